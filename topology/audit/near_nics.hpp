// Which GPUs of a host have a fabric NIC near them, by the class of their paths.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace weft::topology::audit {

struct Input;

struct Nearness {
  std::vector<int> nics;       // usable ones, but those much slower than others: these serve something else
  std::vector<int> near_gpus;  // with at least one of them nearer than SYS
  std::vector<int> far_gpus;   // all of them are known to be far
  std::vector<int> far_nics;   // to which all GPUs are far
};
const Nearness& nearness(const Input& input, int host);

// As fast as the NICs that count above, or not much slower; a rate that is not known is fast enough.
bool is_fast_enough(const Input& input, const Nearness& near, int nic);

// Of the NICs that count the nearest to a GPU; there is one.
int nearest_of(const Input& input, const Nearness& near, int gpu);

// For a far GPU the NICs of near ones, which needs NVLink or XGMI between them; empty where the source shows that there
// is none.
std::string pxn_advice(const Input& input, int host, const Nearness& near);

// The socket of a device: its package. Where none are known, its NUMA node, if the host has two and these can be all:
// they are numbered as those of two sockets are, and their CPUs leave no gap. -1 if it is not known.
int socket_of(const Input& input, int host, int device);

// Sockets of which all GPUs are far from all NICs, and that have no NIC: those GPUs, by node of the socket.
std::map<int, std::vector<int>> sockets_without_nic(const Input& input, int host, const Nearness& near);

}  // namespace weft::topology::audit
