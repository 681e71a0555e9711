// Bindings of the ranks of a host.
#include "topology/advice/bindings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "topology/advice/assign_nics.hpp"
#include "topology/advice/share_cores.hpp"
#include "topology/cpu_set.hpp"
#include "topology/device_facts.hpp"

namespace weft::topology::advice {
namespace {

// A NIC below this part of the fastest one's rate would hold the others up.
constexpr double kMuchSlower = 0.75;

// Ranks that may use the same CPUs.
struct Neighbourhood {
  std::vector<std::size_t> ranks;
  std::vector<int> numas;  // node ids that have CPUs
  std::string cpus;
  std::optional<int> cores;
};

class HostBinder {
 public:
  HostBinder(const Survey& survey, Locality& locality, int host)
      : survey_(survey), locality_(locality), facts_(survey.facts(host)), host_(host) {
    result_.host = host;
    const std::optional<std::string>& allowed =
        facts_.process.allowed_cpus ? facts_.process.allowed_cpus : facts_.container.cgroup_cpus;
    if (allowed) allowed_ = cpus_of(*allowed);
  }

  HostBindings bind() {
    for (int device : devices()) result_.ranks.emplace_back().device = device;
    for (const Neighbourhood& neighbours : neighbourhoods()) share_cpus(neighbours);
    share_nics();
    return std::move(result_);
  }

 private:
  void note(std::string text) { result_.notes.push_back(std::move(text)); }
  const Node& node(int id) const { return locality_.node(id); }

  std::vector<int> devices() const {
    if (!locality_.gpus(host_).empty()) return locality_.gpus(host_);
    std::vector<int> groups;
    for (int group : locality_.core_groups(host_))
      if (!node(group).cpus.empty() && may_use(node(group).cpus)) groups.push_back(group);
    return groups.empty() ? std::vector{locality_.machine(host_)} : groups;
  }

  bool may_use(const std::string& cpus) const { return !allowed_ || !intersection(cpus_of(cpus)).empty(); }

  std::vector<int> intersection(const std::vector<int>& cpus) const {
    if (!allowed_) return cpus;
    std::vector<int> both;
    std::set_intersection(cpus.begin(), cpus.end(), allowed_->begin(), allowed_->end(), std::back_inserter(both));
    return both;
  }

  Neighbourhood around(int device) const {
    Neighbourhood near;
    if (node(device).kind == NodeKind::CoreGroup) {
      near.cpus = node(device).cpus;
      near.cores = node(device).cores;
      if (const int numa = ancestor_of(locality_.graph(), device, NodeKind::Numa); numa >= 0) near.numas = {numa};
      return near;
    }
    std::vector<int> cpus;
    for (int numa : locality_.numa_nodes_of(device)) {
      if (node(numa).cpus.empty()) continue;  // memory of a device, or of nobody near
      near.numas.push_back(numa);
      const std::vector<int> more = cpus_of(node(numa).cpus);
      cpus.insert(cpus.end(), more.begin(), more.end());
      if (node(numa).cores) near.cores = near.cores.value_or(0) + *node(numa).cores;
    }
    near.cpus = cpu_list(std::move(cpus));
    if (near.cpus.empty()) near.cpus = node(device).cpus;
    if (near.cpus.empty()) near.cpus = node(locality_.machine(host_)).cpus;
    return near;
  }

  std::vector<Neighbourhood> neighbourhoods() const {
    std::map<std::string, Neighbourhood> by_cpus;
    for (std::size_t rank = 0; rank < result_.ranks.size(); ++rank) {
      Neighbourhood near = around(result_.ranks[rank].device);
      const std::string key = near.cpus;
      by_cpus.try_emplace(key, std::move(near)).first->second.ranks.push_back(rank);
    }
    std::vector<Neighbourhood> all;
    for (auto& [cpus, near] : by_cpus) all.push_back(std::move(near));
    return all;
  }

  std::string names(const std::vector<std::size_t>& ranks) const {
    std::vector<std::string> words;
    for (std::size_t rank : ranks) words.push_back(node(result_.ranks[rank].device).name);
    return fmt::format("{}", fmt::join(words, ", "));
  }

  void share_cpus(const Neighbourhood& near) {
    std::vector<int> cpus = intersection(cpus_of(near.cpus));
    const bool far = cpus.empty() && allowed_ && !near.cpus.empty();
    if (far) {
      cpus = *allowed_;
      note(fmt::format("none of the CPUs near {} ({}) may be used here; the allowed ones ({}) are far",
                       names(near.ranks), near.cpus, cpu_list(cpus)));
    }
    if (cpus.empty()) return note(fmt::format("which CPUs are near {} is not known", names(near.ranks)));
    const std::vector<Core> cores = cores_of(cpus, facts_.shared_cores, near.cores);
    if (cores.size() < near.ranks.size()) note(fmt::format("{} share {} cores", names(near.ranks), cores.size()));
    const std::vector<std::string> shares = share_evenly(cores, near.ranks.size());
    for (std::size_t i = 0; i < near.ranks.size(); ++i) {
      Binding& rank = result_.ranks[near.ranks[i]];
      rank.cpus = shares[i];
      if (!far) rank.memory_node = memory_of(near, rank.cpus);
    }
  }

  // The NUMA node whose CPUs these are.
  std::optional<int> memory_of(const Neighbourhood& near, const std::string& cpus) const {
    for (int numa : near.numas)
      if (cpus_inside(cpus, node(numa).cpus)) return node(numa).os_index;
    const std::vector<int>& numas = near.numas.empty() ? locality_.numas(host_) : near.numas;
    return numas.size() == 1 ? node(numas.front()).os_index : std::nullopt;
  }

  void share_nics() {
    std::vector<int> devices;
    for (const Binding& rank : result_.ranks) devices.push_back(rank.device);
    const std::vector<int> nics = usable_nics(survey_, locality_, host_, &result_.notes);
    const std::vector<NicShare> shares = assign_nics(locality_.finder(), devices, nics);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i].nics.empty()) continue;
      result_.ranks[i].nics = shares[i].nics;
      result_.ranks[i].nic_class = shares[i].farthest;
    }
  }

  const Survey& survey_;
  Locality& locality_;
  const HostFacts& facts_;
  int host_;
  std::optional<std::vector<int>> allowed_;
  HostBindings result_;
};

}  // namespace

std::vector<int> usable_nics(const Survey& survey, const Locality& locality, int host,
                             std::vector<std::string>* left_out) {
  const auto leave = [&](int nic, std::string_view why) {
    if (left_out != nullptr) left_out->push_back(fmt::format("{} is not used: {}", locality.node(nic).name, why));
  };
  const std::vector<int>& all = locality.nics(host);
  const bool fabric = std::any_of(
      all.begin(), all.end(), [&](int nic) { return locality.node(nic).fabric && locality.node(nic).active != false; });
  std::vector<int> nics;
  double fastest = 0;
  for (int id : all) {
    const Node& nic = locality.node(id);
    if (fabric && !nic.fabric) continue;
    if (is_virtual_function(device_facts(survey, nic))) {
      leave(id, "it is a virtual function");
    } else if (nic.active == false) {
      leave(id, "its port is down");
    } else {
      nics.push_back(id);
      fastest = std::max(fastest, nic.network_gbs.value_or(0));
    }
  }
  std::erase_if(nics, [&](int id) {
    const std::optional<double>& rate = locality.node(id).network_gbs;
    if (!rate || *rate >= kMuchSlower * fastest) return false;
    leave(id, fmt::format("{:g} Gbit/s is much less than the {:g} of others", *rate * 8, fastest * 8));
    return true;
  });
  return nics;
}

HostBindings bind_host(const Survey& survey, Locality& locality, int host) {
  return HostBinder(survey, locality, host).bind();
}

std::vector<HostBindings> bind_hosts(const Survey& survey, Locality& locality) {
  std::vector<HostBindings> hosts;
  for (int host = 0; host < locality.hosts(); ++host) hosts.push_back(bind_host(survey, locality, host));
  return hosts;
}

}  // namespace weft::topology::advice
