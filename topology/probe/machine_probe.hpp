// MachineProbe: what the phases of a probe share. Each phase adds its part of the machine to the graph and leaves
// behind, in node_of, which node an object of hwloc became. Order matters: cpu, memory, cores, pci, os_devices,
// network, gpu_links.
#pragma once

#include <hwloc.h>

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "topology/machine_builder.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

struct MachineProbe {
  MachineProbe(hwloc_topology_t loaded, std::string root_folder, std::string source_name)
      : hwloc(loaded), root(std::move(root_folder)), source(std::move(source_name)), builder(graph, 0) {}
  MachineProbe(const MachineProbe&) = delete;
  MachineProbe& operator=(const MachineProbe&) = delete;

  hwloc_topology_t hwloc;
  std::string root;    // where sysfs is; empty: there is none (an imported file)
  std::string source;  // of links whose rate the machine told: "sysfs", "hwloc"
  Graph graph;
  MachineBuilder builder;
  std::unordered_map<hwloc_obj_t, int> node_of;
  std::set<std::string> taken_names;

  Node& node(int id) { return graph.nodes[static_cast<std::size_t>(id)]; }
  // `wanted`, or with a number behind it if it is taken; without characters that names do not have.
  std::string unique_name(std::string wanted);
};

void probe_cpu(MachineProbe& probe);
void probe_memory(MachineProbe& probe);
void probe_cores(MachineProbe& probe);
void probe_pci(MachineProbe& probe);
void probe_os_devices(MachineProbe& probe);
void probe_network(MachineProbe& probe);
void probe_gpu_links(MachineProbe& probe);

// "0-15,128-143"; empty for no set.
std::string cpu_list(hwloc_const_bitmap_t set);
int cores_inside(hwloc_topology_t topology, hwloc_const_bitmap_t set);
// The node that stands for a place without I/O: the only NUMA node of its nodeset, else its package, else the machine.
int home_of(MachineProbe& probe, hwloc_obj_t object);

// Runs all phases and checks the result.
Result<Graph> run_phases(MachineProbe& probe);

}  // namespace weft::topology
