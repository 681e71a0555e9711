// What several rules ask of one host.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {

// GPUs that work for a job: not the graphics inside a CPU.
const std::vector<int>& accelerators(const Input& input, int host);
bool is_nvidia(const Input& input, int gpu);

// Fabric NICs that a job would use: without ports that are down, and without virtual functions whose card is there,
// too.
const std::vector<int>& usable_nics(const Input& input, int host);
bool is_virtual_function(const Input& input, int nic);
// GB/s of its fastest port; empty if not known.
std::optional<double> port_gbs(const Input& input, int nic);
// The name that verbs and NCCL_IB_HCA know; the node's own where it is not known.
std::string verbs_name(const Input& input, int nic);
// Whether the source has a place for the device's PCIe link, and says nothing there.
bool hides_link(const Input& input, int device);
bool is_efa(const Node& nic);
bool is_slingshot(const Node& nic);

// What is known of a node of the graph; null if nothing is.
const DeviceFacts* device_facts(const Input& input, int node);

// As the host says, else by bridges that only a hypervisor makes; nothing where neither tells.
std::optional<bool> virtual_machine(const Input& input, int host);
// Whether a container hides processes, devices or limits of the host; false where it is not known.
bool in_container(const Input& input, int host);

// Of the machine: "host3", "node17".
const std::string& host_name(const Input& input, int host);
// "gpu0, gpu1, gpu2 and 5 more", with bus ids where `whole`.
std::string names_of(const Locality& locality, const std::vector<int>& nodes, bool whole = false);
std::string names_of(const std::vector<std::string>& names);

// NUMA nodes that have CPUs.
std::vector<int> numas_with_cpus(const Locality& locality, int host);
// CPUs near a device, list form: its own, else those of its NUMA node; empty if not known.
std::string local_cpus(const Input& input, int device);
// The model of the first CPU that tells.
std::string_view cpu_model(const Input& input, int host);

// Ports of a host's fabric NICs, of which something is known.
struct PortView {
  int nic = 0;  // node
  const DeviceFacts* device = nullptr;
  const PortFacts* port = nullptr;
  std::string verbs;  // its device, as verbs and NCCL_IB_HCA know it

  bool active() const { return port->active(); }
  bool ethernet() const { return port->ethernet(); }
};
std::vector<PortView> ports_of(const Input& input, int host);
std::vector<PortView> ports_of_nic(const Input& input, int nic);
// "mlx5_0 port 1"; without the port where the device has one.
std::string describe(const Input& input, const PortView& view);

}  // namespace weft::topology::audit
