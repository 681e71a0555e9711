// The ports of a host over which RDMA to other hosts can be measured.
#pragma once

#include <string>
#include <vector>

#include "topology/survey.hpp"

namespace weft::topology {

struct RdmaPort {
  std::string nic;     // the node's name in the graph
  std::string device;  // as verbs call it
  int port = 1;
  int gid = 0;   // index in the port's table
  int cpu = -1;  // allowed, and near the NIC; -1: not known

  bool operator==(const RdmaPort&) const = default;
};

// Of a survey of one host, in the order of its NICs, one of each: the first active port, with RoCE the GID that a job
// should use (facts/gids.hpp). Not those whose hardware has no reliable connections (EFA, Slingshot).
std::vector<RdmaPort> rdma_ports(const Survey& survey);

}  // namespace weft::topology
