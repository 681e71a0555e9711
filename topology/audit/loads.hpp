// What the PCIe links of a host are asked for when all its GPUs send to their nearest NICs at once.
#pragma once

#include <vector>

namespace weft::topology::audit {

struct Input;

struct Flow {
  int gpu = 0;
  int nic = 0;
  double gbs = 0;  // each way
};

struct LinkLoad {
  int lower = 0;  // the node at the lower end of the link
  double capacity_gbs = 0;
  double gbs = 0;  // the sum of the flows
  std::vector<Flow> flows;
  std::vector<int> storage;  // below the link, all of which pass it on their way to memory
  double storage_gbs = 0;    // what they can bring at most
};

// A link may be asked for so much more than it carries before it is worth a word: rates are nominal.
inline constexpr double kLoadSlack = 1.1;

// Links that flows pass between their own two: not those of GPU and NIC. A NIC's rate is shared by the GPUs whose
// nearest it is; links with an assumed rate and below emulated bridges are left out, and GPUs whose nearest NIC is
// across sockets.
const std::vector<LinkLoad>& pcie_loads(const Input& input, int host);

}  // namespace weft::topology::audit
