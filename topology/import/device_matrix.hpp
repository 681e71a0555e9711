// DeviceMatrix: what tools say that print how near each pair of devices is, without the bridges between them; and the
// graph of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/graph.hpp"

namespace weft::topology {

inline constexpr std::size_t kMaxMatrixDevices = 1024;

struct DeviceMatrix {
  struct Device {
    NodeKind kind = NodeKind::Gpu;  // or Nic
    std::string name;
    std::string cpus;       // empty: not said
    std::vector<int> numa;  // os indices; empty: not said
  };
  // A pair that the source says nothing of has no relation; its class is Unknown.
  struct Relation {
    std::optional<PathClass> path_class;  // nothing: not said, but what two NUMA nodes tell holds
    int nvlinks = 0;
    bool xgmi = false;
  };

  std::vector<Device> devices;                      // GPUs before NICs
  std::map<std::pair<int, int>, Relation> between;  // positions in devices, the lower first
};

// GPUs hang on the NUMA node that is said of them, NICs on that of the GPUs they are nearer to than SYS, else both on
// the machine. Where the NVLinks of a GPU, summed over pairs, are more than a GPU has, they lead to a switch.
Graph graph_of(const DeviceMatrix& matrix);

}  // namespace weft::topology
