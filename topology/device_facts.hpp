// What facts say of a device of the graph: asked by the audit and by advice, which must not judge differently.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "topology/survey.hpp"

namespace weft::topology {

// What is known of a node of the graph; null if nothing is.
const DeviceFacts* device_facts(const Survey& survey, const Node& node);

// Of a NIC and what is known of it (null: nothing).
bool is_virtual_function(const DeviceFacts* facts);
// GB/s of its fastest port, by which NICs are compared: a card with two ports is not faster than others for that. The
// node's own rate, which is that of all ports together, unless several ports tell theirs.
std::optional<double> port_gbs(const Node& nic, const DeviceFacts* facts);
// Whether that was read, not only looked up by the device's id, which cards made for less share.
bool states_rate(const Survey& survey, const Node& nic, const DeviceFacts* facts);
// The name that verbs and NCCL_IB_HCA know; the node's own where it is not known.
std::string verbs_name(const Node& nic, const DeviceFacts* facts);

// That of one of its ports: NCCL names the device of each.
std::string verbs_name(const Survey& survey, const Node& nic, const DeviceFacts& facts, std::size_t port);

struct VerbsDevice {
  std::string name;
  std::vector<int> ports;  // numbers of those that may be up; where none are told, the first, as verbs counts from 1
};
// The devices that verbs makes of a NIC: one, but NCCL names the device of each port, and some cards have one for each.
std::vector<VerbsDevice> verbs_devices(const Survey& survey, const Node& nic, const DeviceFacts* facts);

}  // namespace weft::topology
