// Which GPUs of a host have a fabric NIC near them, by the class of their paths.
#pragma once

#include <map>
#include <vector>

namespace weft::topology::audit {

struct Input;

struct Nearness {
  std::vector<int> nics;       // usable ones
  std::vector<int> near_gpus;  // with at least one of them nearer than SYS
  std::vector<int> far_gpus;   // all of them are known to be far
  std::vector<int> far_nics;   // to which all GPUs are far
};
const Nearness& nearness(const Input& input, int host);

// Sockets (packages; where none are known, NUMA nodes if there are two) of which all GPUs are far from all NICs, and
// that have no NIC: those GPUs, by node of the socket.
std::map<int, std::vector<int>> sockets_without_nic(const Input& input, int host, const Nearness& near);

}  // namespace weft::topology::audit
