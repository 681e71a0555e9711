// Which variables a host needs.
#include "topology/advice/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/plural.hpp"
#include "topology/advice/bindings.hpp"
#include "topology/advice/rank_devices.hpp"
#include "topology/cpu_set.hpp"
#include "topology/device_facts.hpp"
#include "topology/device_kinds.hpp"
#include "topology/facts/gids.hpp"
#include "topology/facts/gpu_direct.hpp"
#include "topology/gpu_order.hpp"
#include "topology/interfaces.hpp"
#include "topology/network.hpp"
#include "topology/redirected_ports.hpp"

namespace weft::topology::advice {
namespace {

constexpr std::size_t kUcxRails = 2;  // NICs that UCX uses for one message unless told otherwise

// What is asked of links, by host, so that a cluster's are looked through once.
struct LinksByHost {
  std::vector<bool> device_links;     // NVLink or XGMI
  std::vector<std::set<int>> leaves;  // switches that fabric NICs are plugged into

  explicit LinksByHost(const Graph& graph) {
    device_links.resize(static_cast<std::size_t>(graph.hosts()));
    leaves.resize(device_links.size());
    for (const Link& link : graph.links) {
      const Node& a = graph.nodes[static_cast<std::size_t>(link.a)];
      const Node& b = graph.nodes[static_cast<std::size_t>(link.b)];
      if (link.kind == LinkKind::NvLink || link.kind == LinkKind::Xgmi)
        device_links[static_cast<std::size_t>(a.host)] = true;
      if (link.kind != LinkKind::Network) continue;
      if (a.fabric && b.host < 0) leaves[static_cast<std::size_t>(a.host)].insert(b.id);
      if (b.fabric && a.host < 0) leaves[static_cast<std::size_t>(b.host)].insert(a.id);
    }
  }
};

class Advisor {
 public:
  Advisor(const Survey& survey, Locality& locality, const LinksByHost& links, int host)
      : survey_(survey),
        locality_(locality),
        facts_(survey.facts(host)),
        host_(host),
        has_device_links_(links.device_links[static_cast<std::size_t>(host)]),
        leaves_(links.leaves[static_cast<std::size_t>(host)]) {
    for (int nic : usable_nics(survey, locality, host, &left_out_))
      if (locality.node(nic).fabric) nics_.push_back(nic);
    for (int nic : nics_)
      for (VerbsDevice& device : verbs_of(nic)) verbs_.push_back(std::move(device.name));
  }

  std::vector<Setting> advise() {
    choose_nics();
    choose_interface();
    choose_gid();
    judge_gpu_direct();
    judge_rails();
    judge_peer_to_peer();
    judge_topology_file();
    judge_affinity();
    judge_multicast();
    judge_providers();
    return std::move(settings_);
  }

 private:
  const Node& node(int id) const { return locality_.node(id); }
  bool has_gpus() const { return !locality_.gpus(host_).empty(); }
  bool has_nvidia_gpus() const {
    return std::any_of(locality_.gpus(host_).begin(), locality_.gpus(host_).end(),
                       [&](int gpu) { return node(gpu).device.starts_with("10de:"); });
  }
  // Of NICs that verbs drives as InfiniBand or RoCE.
  bool uses_verbs() const {
    return std::any_of(nics_.begin(), nics_.end(),
                       [&](int nic) { return !is_efa(node(nic).device) && !is_slingshot(node(nic).device); });
  }

  std::vector<VerbsDevice> verbs_of(int nic) const {
    return verbs_devices(survey_, node(nic), device_facts(survey_, node(nic)));
  }

  void set(std::string name, std::string value, std::string reason) {
    std::optional<std::string> present;
    if (facts_.environment) present = facts_.variable(name).value_or("");
    if (present && present->empty()) present.reset();
    settings_.push_back({std::move(name), std::move(value), std::move(reason), std::move(present)});
  }

  // Libraries take every port that is up. A line is needed where that would be too many.
  void choose_nics() {
    if (!uses_verbs() || left_out_.empty() || verbs_.empty()) return;
    const std::string reason = fmt::format("{}", fmt::join(left_out_, "; "));
    if (has_gpus()) set("NCCL_IB_HCA", fmt::format("={}", fmt::join(verbs_, ",")), reason);
    std::vector<std::string> ports;
    for (int nic : nics_)
      for (const VerbsDevice& device : verbs_of(nic))
        for (int number : device.ports) ports.push_back(fmt::format("{}:{}", device.name, number));
    set("UCX_NET_DEVICES", fmt::format("{}", fmt::join(ports, ",")), reason);
  }

  // The interface that leads out, if others would be tried, too.
  void choose_interface() {
    const InterfaceFacts* const out = leading_out(facts_);
    const std::vector<std::string> misleading = misleading_interfaces(facts_);
    if (out == nullptr || misleading.empty()) return;
    const std::string reason = fmt::format("{} leads out of this host; {} {} local and would be tried, too", out->name,
                                           fmt::join(misleading, ", "), misleading.size() == 1 ? "is" : "are");
    if (has_gpus()) set("NCCL_SOCKET_IFNAME", "=" + out->name, reason);
    set("GLOO_SOCKET_IFNAME", out->name, reason);
    set("OMPI_MCA_btl_tcp_if_include", out->name, reason);
  }

  // The index of the routable RoCE v2 entry; nothing if a port has none, or is not RoCE.
  static std::optional<int> gid_of(const PortFacts& port) {
    if (!port.ethernet()) return std::nullopt;
    for (const GidFacts& gid : port.gids)
      if (gid.type == "RoCE v2" && is_ipv4_gid(gid)) return gid.index;
    return std::nullopt;
  }

  void choose_gid() {
    std::map<int, std::vector<std::string>> by_index;
    std::size_t ports = 0;
    for (int nic : nics_) {
      const DeviceFacts* facts = device_facts(survey_, node(nic));
      if (facts == nullptr || facts->ports.empty()) continue;
      ++ports;
      if (const std::optional<int> index = gid_of(facts->ports.front()))
        by_index[*index].push_back(verbs_name(node(nic), facts));
    }
    // One variable serves all ports: where they differ, it would be wrong for some.
    if (by_index.size() != 1 || by_index.begin()->second.size() != ports || ports != nics_.size()) return;
    const int index = by_index.begin()->first;
    const std::string reason =
        fmt::format("entry {} is RoCE v2 with an IPv4 address on {}; releases of NCCL before 2.21 take entry 0", index,
                    fmt::join(by_index.begin()->second, ", "));
    if (has_gpus()) set("NCCL_IB_GID_INDEX", fmt::format("{}", index), reason);
    set("UCX_IB_GID_INDEX", fmt::format("{}", index), reason);
  }

  // NCCL stops at PXB by itself. If all that is near is below the host bridge, it needs to be told.
  void judge_gpu_direct() {
    if (!has_nvidia_gpus() || nics_.empty() || gpu_direct(facts_) != GpuDirect::Possible ||
        facts_.variable("NCCL_TOPO_FILE"))
      return;
    std::size_t host_bridge = 0;
    for (int gpu : locality_.gpus(host_)) {
      PathClass nearest = PathClass::None;
      for (const Path& path : locality_.finder().best_paths(gpu, nics_)) nearest = std::min(nearest, path.path_class);
      host_bridge += nearest == PathClass::Phb ? 1 : 0;
    }
    if (host_bridge == locality_.gpus(host_).size())
      set("NCCL_NET_GDR_LEVEL", "PHB",
          "the nearest NIC of every GPU is across a host bridge (PHB), which NCCL takes as too far for GPUDirect RDMA");
  }

  // The switches that this host's NICs are plugged into.
  void judge_rails() {
    if (!has_gpus() || nics_.size() < 2 || locality_.hosts() < 2) return;
    if (leaves_.size() != nics_.size()) return;
    const Path across = locality_.finder().best_path(*leaves_.begin(), *leaves_.rbegin());
    set("NCCL_CROSS_NIC", "0",
        across.path_class == PathClass::None
            ? fmt::format("each of the {} NICs has a rail of its own and rails do not meet", nics_.size())
            : fmt::format(
                  "each of the {} NICs is at a leaf switch of its own; between rails traffic goes over the spine",
                  nics_.size()));
  }

  void judge_peer_to_peer() {
    if (!has_nvidia_gpus() || locality_.gpus(host_).size() < 2 || has_device_links_) return;
    if (facts_.platform.virtual_machine == true)
      return set("NCCL_P2P_LEVEL", "PXB",
                 "GPUs without NVLink in a virtual machine: copies through the host bridge are slower than through "
                 "memory");
    const RedirectedPorts found = redirected_ports(survey_, locality_, locality_.gpus(host_), {});
    if (found.pairs.empty()) return;
    const Node& port = node(found.ports.front());
    set("NCCL_P2P_DISABLE", "1",
        fmt::format("{} sends what {} and {} copy to each other to the root (ACS); such copies are slow or fail until "
                    "that is off, and there is no NVLink",
                    port.bus_id.empty() ? port.name : "bridge " + port.bus_id, node(found.pairs.front().first).name,
                    node(found.pairs.front().second).name));
  }

  bool behind_switch(int gpu) const { return ancestor_of(locality_.graph(), gpu, NodeKind::PciSwitch) >= 0; }

  void judge_topology_file() {
    if (facts_.platform.virtual_machine != true || !has_gpus() || locality_.gpus(host_).size() < 2) return;
    const std::vector<int>& gpus = locality_.gpus(host_);
    if (std::any_of(gpus.begin(), gpus.end(), [&](int gpu) { return behind_switch(gpu); })) return;
    if (facts_.variable("NCCL_TOPO_FILE")) return;
    set("NCCL_TOPO_FILE", "",
        facts_.topology_file_present == true
            ? "this virtual machine hides switches and NUMA nodes; the cloud's own topology file is on it: its path is "
              "the value"
            : "this virtual machine hides switches and NUMA nodes; write the file from a dump of the real machine "
              "(topo-probe --from DUMP --format nccl-xml) with this guest's bus ids");
  }

  void judge_affinity() {
    if (!has_gpus() || !facts_.process.allowed_cpus) return;
    std::vector<std::string> far;
    const std::vector<int> allowed = cpus_of(*facts_.process.allowed_cpus);
    for (int gpu : visible_gpus(survey_, host_, accelerators(locality_, host_)).order.gpus) {
      std::vector<int> near;
      for (int numa : locality_.numa_nodes_of(gpu))
        for (int cpu : cpus_of(node(numa).cpus)) near.push_back(cpu);
      const bool any = std::any_of(near.begin(), near.end(),
                                   [&](int cpu) { return std::binary_search(allowed.begin(), allowed.end(), cpu); });
      if (!near.empty() && !any) far.push_back(node(gpu).name);
    }
    if (!far.empty())
      set("NCCL_IGNORE_CPU_AFFINITY", "1",
          fmt::format("the allowed CPUs ({}) include none near {}; NCCL would bind its threads to an empty set",
                      *facts_.process.allowed_cpus, fmt::join(far, ", ")));
  }

  void judge_multicast() {
    if (!facts_.fabric_manager_start_s) return;
    for (const DeviceFacts& one : facts_.devices)
      if (one.fabric_registered_s && *one.fabric_registered_s < *facts_.fabric_manager_start_s)
        return set(
            "NCCL_NVLS_ENABLE", "0",
            fmt::format(
                "the fabric manager was started {} s after boot, after {} had registered ({} s); until the GPUs "
                "are reset NVLink multicast fails",
                *facts_.fabric_manager_start_s, one.node.empty() ? one.bus_id : one.node, *one.fabric_registered_s));
  }

  void judge_providers() {
    const auto efa = static_cast<std::size_t>(
        std::count_if(nics_.begin(), nics_.end(), [&](int nic) { return is_efa(node(nic).device); }));
    if (efa > 0)
      set("FI_PROVIDER", "efa",
          fmt::format("{}; libfabric would fall back to tcp without a word", base::plural(efa, "EFA device")));
    if (!has_gpus() && uses_verbs() && nics_.size() > kUcxRails)
      set("UCX_MAX_RNDV_RAILS", fmt::format("{}", nics_.size()),
          fmt::format("{} NICs; UCX spreads a message over {} at most unless told", nics_.size(), kUcxRails));
  }

  const Survey& survey_;
  Locality& locality_;
  const HostFacts& facts_;
  int host_;
  bool has_device_links_;
  const std::set<int>& leaves_;
  std::vector<int> nics_;
  std::vector<std::string> verbs_;
  std::vector<std::string> left_out_;
  std::vector<Setting> settings_;
};

}  // namespace

std::vector<Setting> environment_of(const Survey& survey, Locality& locality, int host) {
  return Advisor(survey, locality, LinksByHost(survey.graph), host).advise();
}

std::vector<std::vector<Setting>> environments_of(const Survey& survey, Locality& locality) {
  const LinksByHost links(survey.graph);
  std::vector<std::vector<Setting>> settings;
  for (int host = 0; host < locality.hosts(); ++host)
    settings.push_back(Advisor(survey, locality, links, host).advise());
  return settings;
}

}  // namespace weft::topology::advice
