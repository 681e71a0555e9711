// Bindings of the ranks of a host.
#include "topology/advice/bindings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/plural.hpp"
#include "topology/advice/assign_nics.hpp"
#include "topology/advice/rank_devices.hpp"
#include "topology/advice/share_cores.hpp"
#include "topology/advice/usable_memory.hpp"
#include "topology/cpu_set.hpp"
#include "topology/device_facts.hpp"
#include "topology/gpu_order.hpp"

namespace weft::topology::advice {
namespace {

// Ranks that may use the same CPUs.
struct Neighbourhood {
  std::vector<std::size_t> ranks;
  std::vector<std::size_t> far_ranks;  // that may use no CPUs near them, so some of these
  std::vector<int> numas;              // node ids that have CPUs
  std::string cpus;
  std::optional<int> cores;
  bool whole_machine = false;  // because nothing nearer is known
};

class HostBinder {
 public:
  HostBinder(const Survey& survey, Locality& locality, int host)
      : survey_(survey), locality_(locality), facts_(survey.facts(host)), host_(host), memory_(survey, locality, host) {
    result_.host = host;
    const std::optional<std::string>& allowed =
        facts_.process.allowed_cpus ? facts_.process.allowed_cpus : facts_.container.cgroup_cpus;
    if (allowed) allowed_ = cpus_of(*allowed);
    look_at_cpus();
  }

  HostBindings bind() {
    RankDevices ranks = rank_devices(survey_, locality_, host_, allowed_);
    result_.notes = std::move(ranks.notes);
    result_.cuda_must_be_told = ranks.cuda_must_be_told;
    parts_ = std::move(ranks.parts);
    for (int device : ranks.devices) {
      Binding& rank = result_.ranks.emplace_back();
      rank.device = device;
      if (node(device).kind == NodeKind::Gpu) rank.index = driver_index(survey_, node(device));
    }
    for (const Neighbourhood& neighbours : with_far_ranks(neighbourhoods())) share_cpus(neighbours);
    tell_common_cpus();
    share_nics();
    return std::move(result_);
  }

 private:
  // Each once.
  void note(std::string text) {
    if (std::find(result_.notes.begin(), result_.notes.end(), text) == result_.notes.end())
      result_.notes.push_back(std::move(text));
  }
  const Node& node(int id) const { return locality_.node(id); }

  void look_at_cpus() {
    const auto look = [&](int id) {
      for (const CpuRange& range : parse_cpu_list(node(id).cpus)) highest_cpu_ = std::max(highest_cpu_, range.last);
    };
    look(locality_.machine(host_));
    for (int gpu : locality_.gpus(host_)) look(gpu);
    for (int numa : locality_.numas(host_)) {
      look(numa);
      numas_tell_cpus_ |= !node(numa).cpus.empty();
    }
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
      const auto part = parts_.find(device);
      near.cpus = part != parts_.end() ? part->second : node(device).cpus;
      if (part == parts_.end()) near.cores = node(device).cores;
      if (const int numa = ancestor_of(locality_.graph(), device, NodeKind::Numa); numa >= 0) near.numas = {numa};
      return near;
    }
    std::vector<int> cpus;
    bool tells_cores = true;
    int cores = 0;
    for (int numa : locality_.numa_nodes_of(device)) {
      if (node(numa).cpus.empty()) continue;  // memory of a device, or of nobody near
      near.numas.push_back(numa);
      const std::vector<int> more = cpus_of(node(numa).cpus);
      cpus.insert(cpus.end(), more.begin(), more.end());
      tells_cores &= node(numa).cores.has_value();
      cores += node(numa).cores.value_or(0);
    }
    if (tells_cores && !cpus.empty()) near.cores = cores;
    near.cpus = cpu_list(std::move(cpus));
    if (near.cpus.empty()) near.cpus = node(device).cpus;
    near.whole_machine = near.cpus.empty();
    if (near.whole_machine) near.cpus = node(locality_.machine(host_)).cpus;
    if (near.cpus.empty() && allowed_) near.cpus = cpu_list(*allowed_);
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
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.ranks < b.ranks; });
    return all;
  }

  std::string names(const std::vector<std::size_t>& ranks) const {
    std::vector<std::string> words;
    for (std::size_t rank : ranks) words.push_back(node(result_.ranks[rank].device).name);
    return fmt::format("{}", fmt::join(words, ", "));
  }

  // The NUMA node that a device hangs below; -1 where that may be memory without CPUs.
  int own_numa(int device) const {
    const int numa = ancestor_of(locality_.graph(), device, NodeKind::Numa);
    return numa >= 0 && node(numa).cpus.empty() && numas_tell_cpus_ ? -1 : numa;
  }

  // NUMA nodes of these ranks that are told to have one and the same CPUs, which cannot be.
  std::set<int> numas_of_same_cpus(const Neighbourhood& near) const {
    std::set<int> numas;
    for (std::size_t rank : near.ranks)
      if (const int own = own_numa(result_.ranks[rank].device);
          own >= 0 && node(own).os_index && (!numas_tell_cpus_ || node(own).cpus == near.cpus))
        numas.insert(*node(own).os_index);
    if (near.whole_machine || numas.size() < 2) numas.clear();
    return numas;
  }

  std::vector<Core> only_allowed(std::vector<Core> cores) const {
    for (Core& core : cores) core = intersection(core);
    std::erase_if(cores, [](const Core& core) { return core.empty(); });
    return cores;
  }

  // Ranks without allowed CPUs near them get an even part of those of others, and of allowed ones near nobody.
  std::vector<Neighbourhood> with_far_ranks(std::vector<Neighbourhood> all) {
    std::vector<std::size_t> far;
    std::vector<Neighbourhood> lenders;
    std::vector<std::string> near_some;
    for (Neighbourhood& near : all) {
      if (near.cpus.empty() || may_use(near.cpus)) {
        near_some.push_back(near.cpus);
        lenders.push_back(std::move(near));
        continue;
      }
      note(fmt::format("none of the CPUs near {} ({}) may be used here; the allowed ones ({}) are far",
                       names(near.ranks), near.cpus, cpu_list(*allowed_)));
      far.insert(far.end(), near.ranks.begin(), near.ranks.end());
    }
    if (far.empty()) return lenders;
    lenders.emplace_back().cpus = allowed_but(cpus_of(fmt::format("{}", fmt::join(near_some, ","))));
    std::sort(far.begin(), far.end());
    for (std::size_t rank : far) lend(lenders, rank);
    return lenders;
  }

  std::string allowed_but(const std::vector<int>& cpus) const {
    std::vector<int> left;
    std::set_difference(allowed_->begin(), allowed_->end(), cpus.begin(), cpus.end(), std::back_inserter(left));
    return cpu_list(std::move(left));
  }

  // Where most CPUs are left for each rank.
  void lend(std::vector<Neighbourhood>& lenders, std::size_t rank) const {
    const auto part = [&](const Neighbourhood& one) {
      return static_cast<double>(intersection(cpus_of(one.cpus)).size()) /
             static_cast<double>(one.ranks.size() + one.far_ranks.size() + 1);
    };
    std::max_element(lenders.begin(), lenders.end(), [&](const auto& a, const auto& b) {
      return part(a) < part(b);
    })->far_ranks.push_back(rank);
  }

  void share_cpus(const Neighbourhood& near) {
    std::vector<std::size_t> ranks = near.ranks;
    ranks.insert(ranks.end(), near.far_ranks.begin(), near.far_ranks.end());
    if (ranks.empty()) return;
    if (const std::set<int> numas = numas_of_same_cpus(near); !numas.empty() && near.far_ranks.empty()) {
      note(fmt::format("the source gives the NUMA nodes {} the same CPUs ({}), so it is not known which are near {}",
                       fmt::join(numas, ", "), near.cpus, names(near.ranks)));
      return place_memory(near);
    }
    Cores found = cores_of(cpus_of(near.cpus), {facts_.shared_cores, near.cores, highest_cpu_, ranks.size()});
    found.cores = only_allowed(std::move(found.cores));
    if (found.cores.empty())
      note(fmt::format("which CPUs are near {} is not known", names(ranks)));
    else
      hand_out(found, ranks);
    place_memory(near);
  }

  void hand_out(const Cores& found, const std::vector<std::size_t>& ranks) {
    if (found.cores.size() < ranks.size()) {
      note(fmt::format("{} share {}", names(ranks), base::plural(found.cores.size(), "core")));
      told_to_share_.insert(ranks.begin(), ranks.end());
    } else if (ranks.size() > 1) {
      tell_threads(found);
    }
    const std::vector<std::string> shares = share_evenly(found.cores, ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) result_.ranks[ranks[i]].cpus = shares[i];
  }

  void tell_threads(const Cores& found) {
    std::vector<std::string> pairs;
    for (int distance : found.distances) pairs.push_back(fmt::format("n and n+{}", distance));
    if (found.threads == Threads::Apart)
      note(
          fmt::format("CPUs {} are taken for threads of one core, as Linux numbers them on x86: the source does not "
                      "tell",
                      fmt::join(pairs, ", ")));
    if (found.threads != Threads::Unknown) return;
    note(pairs.empty() ? std::string("whether CPUs are threads of one core is not told: ranks may share cores")
                       : fmt::format("whether CPUs are threads of one core is not told; if {} are, ranks share none",
                                     fmt::join(pairs, ", or ")));
  }

  // What a source tells of its CPUs may overlap.
  void tell_common_cpus() {
    std::map<int, std::size_t> rank_of;  // by CPU
    std::set<std::size_t> ranks;
    std::vector<int> common;
    for (std::size_t rank = 0; rank < result_.ranks.size(); ++rank)
      for (int cpu : cpus_of(result_.ranks[rank].cpus)) {
        const auto [first, fresh] = rank_of.try_emplace(cpu, rank);
        if (fresh || (told_to_share_.contains(rank) && told_to_share_.contains(first->second))) continue;
        ranks.insert({rank, first->second});
        common.push_back(cpu);
      }
    if (!ranks.empty())
      note(fmt::format("{} have CPUs in common ({})", names({ranks.begin(), ranks.end()}), cpu_list(common)));
  }

  void place_memory(const Neighbourhood& near) {
    for (std::size_t rank : near.ranks) take_memory(result_.ranks[rank], memory_of(near, result_.ranks[rank]));
  }

  // From that node, or the nearest that can be used.
  void take_memory(Binding& rank, int numa) {
    if (numa < 0) return;
    const std::string obstacle = memory_.obstacle(numa);
    const std::optional<int> own = node(numa).os_index;
    rank.memory_node = own;
    if (obstacle.empty() || !own) return;
    const int other = memory_.nearest(numa);
    rank.memory_node = other < 0 ? std::nullopt : node(other).os_index;
    rank.cpu_node = own;
    note(rank.memory_node
             ? fmt::format("memory node {} {}: {} is the nearest that can be used", *own, obstacle, *rank.memory_node)
             : fmt::format("memory node {} {}, and no other is known that can be used", *own, obstacle));
  }

  // The NUMA node whose CPUs these are: the device's own, if it can be; -1 if that is not known.
  int memory_of(const Neighbourhood& near, const Binding& rank) const {
    const int own = own_numa(rank.device);
    if (own >= 0 && (rank.cpus.empty() || node(own).cpus.empty() || cpus_inside(rank.cpus, node(own).cpus))) return own;
    for (int numa : near.numas)
      if (cpus_inside(rank.cpus, node(numa).cpus)) return numa;
    // Sources that show no packages show only NUMA nodes that something else is on: there may be others.
    const bool shows_all = !locality_.packages(host_).empty();
    const std::vector<int>& numas = near.numas.empty() && shows_all ? locality_.numas(host_) : near.numas;
    return numas.size() == 1 ? numas.front() : -1;
  }

  void share_nics() {
    std::vector<int> devices;
    for (const Binding& rank : result_.ranks) devices.push_back(rank.device);
    const std::vector<int> nics = usable_nics(survey_, locality_, host_, &result_.notes);
    const std::vector<NicShare> shares = assign_nics(locality_.finder(), devices, nics);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i].nics.empty()) continue;
      result_.ranks[i].nics = shares[i].nics;
      for (int nic : shares[i].nics)
        for (std::string& name : names_of(node(nic))) result_.ranks[i].nic_names.push_back(std::move(name));
      result_.ranks[i].nic_class = shares[i].farthest;
    }
  }

  // Of the ports that may be up.
  std::vector<std::string> names_of(const Node& nic) const {
    std::vector<std::string> names;
    if (nic.fabric)
      for (VerbsDevice& device : verbs_devices(survey_, nic, device_facts(survey_, nic)))
        if (!device.ports.empty()) names.push_back(std::move(device.name));
    return names.empty() ? std::vector<std::string>{nic.name} : names;
  }

  const Survey& survey_;
  Locality& locality_;
  const HostFacts& facts_;
  int host_;
  std::optional<std::vector<int>> allowed_;
  int highest_cpu_ = 0;
  bool numas_tell_cpus_ = false;
  UsableMemory memory_;
  std::map<int, std::string> parts_;     // as in RankDevices
  std::set<std::size_t> told_to_share_;  // ranks
  HostBindings result_;
};

}  // namespace

HostBindings bind_host(const Survey& survey, Locality& locality, int host) {
  return HostBinder(survey, locality, host).bind();
}

std::vector<HostBindings> bind_hosts(const Survey& survey, Locality& locality) {
  std::vector<HostBindings> hosts;
  for (int host = 0; host < locality.hosts(); ++host) hosts.push_back(bind_host(survey, locality, host));
  return hosts;
}

}  // namespace weft::topology::advice
