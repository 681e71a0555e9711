// MachineProbe: what the phases of a probe share. Each phase adds its part of the machine to the graph and leaves
// behind, in node_of, which node an object became. Order matters: cpu, memory, cores, pci, os_devices, network,
// gpu_links, amd_xgmi.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/machine_builder.hpp"
#include "topology/node_names.hpp"
#include "topology/probe/object_tree.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

struct MachineProbe {
  // The tree must outlive it.
  MachineProbe(const ObjectTree& objects, std::string root_folder, std::string source_name)
      : tree(objects),
        root(std::move(root_folder)),
        source(std::move(source_name)),
        builder(graph, 0),
        node_of(objects.objects().size(), -1) {}
  MachineProbe(const MachineProbe&) = delete;
  MachineProbe& operator=(const MachineProbe&) = delete;

  const ObjectTree& tree;
  std::string root;    // where sysfs is; empty: there is none (an imported file)
  std::string source;  // of links whose rate the machine told: "sysfs", "hwloc"
  Graph graph;
  MachineBuilder builder;
  std::vector<int> node_of;  // by object; -1: it became no node
  UniqueNames names;

  Node& node(int id) { return graph.nodes[static_cast<std::size_t>(id)]; }
  int& node_of_object(int object) { return node_of[static_cast<std::size_t>(object)]; }
  std::string unique_name(std::string_view wanted) { return names.take(wanted); }
};

void probe_cpu(MachineProbe& probe);
void probe_memory(MachineProbe& probe);
void probe_cores(MachineProbe& probe);
void probe_pci(MachineProbe& probe);
void probe_os_devices(MachineProbe& probe);
void probe_network(MachineProbe& probe);
void probe_gpu_links(MachineProbe& probe);
void probe_amd_xgmi(MachineProbe& probe);

// The node of the object or of the nearest one above it that became one; the machine if there is none.
int node_at_or_above(MachineProbe& probe, int object);
// The node that stands for a place without I/O: the only NUMA node of its nodeset, else its package, else the machine.
int home_of(MachineProbe& probe, int object);
// The CPUs and the number of cores of what the object became.
void take_cpus(MachineProbe& probe, const std::optional<IndexSet>& cpus, Node& node);

// Runs all phases and checks the result, which is probe.graph.
Status run_phases(MachineProbe& probe);

}  // namespace weft::topology
