// Cables: a fabric as a listing tells it, before it is a graph: switches, adapters, and what is plugged into what.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/survey.hpp"

namespace weft::topology {

struct Cables {
  struct Switch {
    std::string guid;
    std::string name;
  };
  struct Adapter {
    std::string guid;    // of the node
    std::string host;    // "node001"
    std::string device;  // "mlx5_0", "HCA-1"
  };
  struct Cable {
    int a = 0;  // switches count from 0; adapters are -1, -2, ...
    int b = 0;
    double gbs = 0;
    bool assumed = false;  // the listing tells no rate
  };
  std::vector<Switch> switches;
  std::vector<Adapter> adapters;
  std::vector<Cable> cables;

  static int adapter_end(std::size_t index) { return -1 - static_cast<int>(index); }
  static std::size_t adapter_index(int end) { return static_cast<std::size_t>(-1 - end); }
};

// Switches above others that are joined to the same switches by the same number of like cables share their load: they
// become one, named as the first and "... and 3 like it". Repeated, so that a core above such spines folds too.
void fold_equal_switches(Cables& cables);

// Adds switches and links for all cables; `nics[i]` is the NIC of adapter i, or -1 where it is not known. Cables
// between the same two ends become one link.
void add_network(Graph& graph, const Cables& cables, const std::vector<int>& nics, double switch_latency_us);

}  // namespace weft::topology
