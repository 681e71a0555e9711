// PCIe links and network ports as NCCL writes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/facts/facts.hpp"
#include "topology/locality.hpp"

namespace weft::topology {

// What NCCL takes a device's link for: the best that both its ends can do, at the present width.
struct NcclLink {
  std::optional<double> gts;
  std::optional<int> width;
};
// Where a source tells GB/s only, the most lanes that make this rate.
NcclLink nccl_link(const Locality& locality, int node);
std::string nccl_speed(double gts);  // "16.0 GT/s PCIe"

struct NcclNet {
  std::string name;
  std::optional<int> index;
  std::optional<long long> mbits;
  std::optional<int> port;
  std::optional<std::string> guid;
};
// `from_nccl`: the node's names are those of its nets.
std::vector<NcclNet> nccl_nets(const Node& nic, const DeviceFacts* facts, bool from_nccl);

}  // namespace weft::topology
