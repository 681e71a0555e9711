// Machine models: a line or a name made into a graph.
//
//   machine - package - NUMA node - core group
//                           |
//                      host bridge - PCIe switch - GPUs and NICs (gpus_per_switch GPUs, their share of the NICs)
//
// Switches go round the NUMA nodes in blocks; GPUs also hang on the NVSwitch or on each other. Building is linear in
// the result.
#include <fmt/format.h>

#include <cstddef>

#include "topology/fabric/fabric_spec.hpp"
#include "topology/machine_builder.hpp"
#include "topology/model_spec.hpp"
#include "topology/sources.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

class HostModel {
 public:
  HostModel(Graph& graph, const ModelSpec& spec, int host)
      : graph_(graph), spec_(spec), host_(host), machine_(graph, host) {}

  void build() {
    machine_.machine(fmt::format("host{}", host_));
    add_cpus();
    add_devices();
    add_gpu_links();
  }

 private:
  int cpu_first(int numa) const { return numa * spec_.cores; }
  std::string cpus(int first_numa, int numas) const {
    const int first = cpu_first(first_numa);
    const int last = cpu_first(first_numa + numas) - 1;
    return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }

  void add_cpus() {
    Node& machine = graph_.nodes[static_cast<std::size_t>(machine_.machine_id())];
    machine.cpus = cpus(0, spec_.numa);
    machine.cores = spec_.cores * spec_.numa;
    const int per_package = spec_.numa / spec_.packages;
    for (int p = 0; p < spec_.packages; ++p) {
      const int package = machine_.package(p, spec_.cpu_model);
      graph_.nodes[static_cast<std::size_t>(package)].cpus = cpus(p * per_package, per_package);
      graph_.nodes[static_cast<std::size_t>(package)].cores = spec_.cores * per_package;
      for (int n = p * per_package; n < (p + 1) * per_package; ++n) add_numa(package, n);
    }
    machine_.join_packages();
  }

  void add_numa(int package, int index) {
    const int numa = machine_.numa(package, index);
    const int group = machine_.core_group(numa, index);
    for (int id : {numa, group}) {
      graph_.nodes[static_cast<std::size_t>(id)].cpus = cpus(index, 1);
      graph_.nodes[static_cast<std::size_t>(id)].cores = spec_.cores;
    }
    numas_.push_back(numa);
  }

  Node device(NodeKind kind, std::string name, int switch_id) {
    Node node;
    node.kind = kind;
    node.name = std::move(name);
    node.parent = switch_id;
    node.cpus = graph_.nodes[static_cast<std::size_t>(numa_of_switch_)].cpus;
    const double gts = rates::kPciGts[spec_.pcie_generation - 1];
    node.pci = PciLink{gts, 16, gts, 16};
    return node;
  }

  // GPUs and NICs in equal shares behind the switches; without GPUs, each NIC behind a root port of its own.
  void add_devices() {
    const int per_switch = spec_.gpus_per_switch;
    const int switches = spec_.gpus > 0 ? (spec_.gpus + per_switch - 1) / per_switch : spec_.nics;
    for (int s = 0; s < switches; ++s) {
      numa_of_switch_ = numas_[static_cast<std::size_t>(static_cast<long long>(s) * spec_.numa / switches)];
      const int bridge = machine_.host_bridge(numa_of_switch_, fmt::format("pci{}", s));
      const int above = spec_.gpus > 0 ? add_switch(bridge, s) : bridge;
      for (int g = s * per_switch; g < (s + 1) * per_switch && g < spec_.gpus; ++g) add_gpu(above, g);
      const auto nics = static_cast<long long>(spec_.nics);
      for (int n = static_cast<int>(s * nics / switches); n < (s + 1) * nics / switches; ++n) add_nic(above, n);
    }
  }

  int add_switch(int bridge, int index) {
    Node node = device(NodeKind::PciSwitch, fmt::format("switch{}", index), bridge);
    return machine_.pci_device(std::move(node), kSpec);
  }

  void add_gpu(int above, int index) {
    Node node = device(NodeKind::Gpu, fmt::format("gpu{}", index), above);
    node.model = spec_.gpu_model;
    node.device = spec_.gpu_device;
    gpus_.push_back(machine_.pci_device(std::move(node), kSpec));
  }

  void add_nic(int above, int index) {
    Node node = device(NodeKind::Nic, fmt::format("nic{}", index), above);
    node.model = spec_.nic_model;
    node.device = spec_.nic_device;
    node.fabric = spec_.nic_word != "eth";
    node.network_gbs = spec_.nic_rate.bandwidth_gbs;
    if (node.device.empty() && spec_.nic_word.starts_with("efa")) node.device = "1d0f:efa0";
    machine_.pci_device(std::move(node), kSpec);
  }

  void add_gpu_links() {
    if (spec_.nvswitch_gbs > 0) {
      Node node;
      node.kind = NodeKind::NvSwitch;
      node.name = "nvswitch0";
      node.parent = machine_.machine_id();
      node.host = host_;
      const int fabric = graph_.add(std::move(node));
      for (int gpu : gpus_)
        graph_.connect(gpu, fabric, LinkKind::NvLink, spec_.nvswitch_gbs, rates::kNvLinkLatencyUs, kSpec,
                       rates::nvlink_count(spec_.nvswitch_gbs));
    }
    if (spec_.nvlink_gbs > 0)
      for (std::size_t a = 0; a < gpus_.size(); ++a)
        for (std::size_t b = a + 1; b < gpus_.size(); ++b)
          graph_.connect(gpus_[a], gpus_[b], LinkKind::NvLink, spec_.nvlink_gbs, 2 * rates::kNvLinkLatencyUs, kSpec,
                         rates::nvlink_count(spec_.nvlink_gbs));
  }

  Graph& graph_;
  const ModelSpec& spec_;
  int host_;
  MachineBuilder machine_;
  std::vector<int> numas_;
  std::vector<int> gpus_;
  int numa_of_switch_ = 0;
};

}  // namespace

Result<Graph> model(std::string_view line_or_name) {
  WEFT_TRY_ASSIGN(const ModelSpec spec, parse_model(line_or_name));
  Graph graph;
  graph.name = spec.name;
  for (int host = 0; host < spec.hosts; ++host) {
    HostModel(graph, spec, host).build();
    if (host > 0) continue;  // all are like the first
    graph.nodes.reserve(graph.nodes.size() * static_cast<std::size_t>(spec.hosts));
    graph.links.reserve((graph.links.size() + static_cast<std::size_t>(spec.nics)) *
                        static_cast<std::size_t>(spec.hosts));
  }
  join_hosts(graph, spec.fabric);
  return graph;
}

}  // namespace weft::topology
