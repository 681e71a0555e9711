// Where a device sits: what reports and audit rules ask of a graph beyond its paths.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "topology/path_finder.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

// The nearest ancestor of that kind, the node itself included; -1 if there is none.
int ancestor_of(const Graph& graph, int node, NodeKind kind);

// Of the machines that tell; nothing where none does.
struct Totals {
  std::optional<long long> cores;
  std::optional<std::size_t> cpus;
};
Totals totals_of(const Graph& graph);

// Looks the graph over once, then answers in the size of one host. The graph must outlive it.
class Locality {
 public:
  explicit Locality(const Graph& graph);

  const Graph& graph() const { return graph_; }
  const Node& node(int id) const { return graph_.nodes[static_cast<std::size_t>(id)]; }
  PathFinder& finder() { return finder_; }

  // Ids of one host, in order.
  const std::vector<int>& gpus(int host) const { return hosts_[static_cast<std::size_t>(host)].gpus; }
  const std::vector<int>& nics(int host) const { return hosts_[static_cast<std::size_t>(host)].nics; }
  const std::vector<int>& storage(int host) const { return hosts_[static_cast<std::size_t>(host)].storage; }
  const std::vector<int>& core_groups(int host) const { return hosts_[static_cast<std::size_t>(host)].core_groups; }
  int machine(int host) const { return hosts_[static_cast<std::size_t>(host)].machine; }
  const std::vector<int>& numas(int host) const { return hosts_[static_cast<std::size_t>(host)].numas; }
  const std::vector<int>& packages(int host) const { return hosts_[static_cast<std::size_t>(host)].packages; }
  int hosts() const { return static_cast<int>(hosts_.size()); }

  // "mlx5_0 (0000:c1:00.0)", with "host1/" before it where there are several hosts.
  std::string describe(int node) const;
  // "mlx5_0", with "host1/" before it where there are several hosts.
  std::string name(int node) const;
  // The NUMA nodes a device is near, by its place in the tree, else by its CPUs.
  std::vector<int> numa_nodes_of(int device) const;
  // GB/s that the PCIe link of a node shows now; nothing where it is not known.
  std::optional<double> pci_link_gbs(int node) const;
  // The PCI link between a node and its parent, by its place in the graph; -1 if there is none.
  int uplink(int node) const { return uplink_[static_cast<std::size_t>(node)]; }
  // The bridge or switch port right above a device; -1 if that is the host bridge or nothing.
  int upstream_bridge(int device) const;
  // The best path from a GPU to another GPU or to a NIC of its host. All of them are searched for at the first
  // question.
  const Path& device_path(int gpu, int device);
  // The NICs of a GPU's host that are nearest to it, by path class, among far ones those of its package first. Fabric
  // NICs only, where the host has any.
  std::vector<int> nearest_nics(int gpu);

 private:
  struct Host {
    std::vector<int> gpus;
    std::vector<int> nics;
    std::vector<int> fabric_nics;
    std::vector<int> storage;
    std::vector<int> numas;
    std::vector<int> core_groups;
    int machine = -1;
    std::vector<int> packages;
  };
  const Graph& graph_;
  PathFinder finder_;
  std::vector<Host> hosts_;
  std::vector<int> uplink_;    // by node: its PCI link to its parent, or -1
  std::vector<int> position_;  // by node: of a GPU or NIC among the GPUs, then the NICs, of its host; else -1
  std::unordered_map<int, std::vector<Path>> device_paths_;  // by GPU, then by position
};

}  // namespace weft::topology
