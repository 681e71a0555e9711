// What facts say of a device of the graph: asked by the audit and by advice, which must not judge differently.
#pragma once

#include <string>

#include "topology/survey.hpp"

namespace weft::topology {

// What is known of a node of the graph; null if nothing is.
const DeviceFacts* device_facts(const Survey& survey, const Node& node);

// Of a NIC and what is known of it (null: nothing).
bool is_virtual_function(const DeviceFacts* facts);
// The name that verbs and NCCL_IB_HCA know; the node's own where it is not known.
std::string verbs_name(const Node& nic, const DeviceFacts* facts);

}  // namespace weft::topology
