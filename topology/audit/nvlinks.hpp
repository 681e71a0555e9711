// How many NVLinks a GPU has, and how many it should have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {

struct NvLinks {
  int gpu = 0;
  int active = 0;            // that lead somewhere now
  bool to_switch = false;    // at least one leads to an NVSwitch
  bool told_singly = false;  // the facts list the links, also those that are not active
  bool by_site = false;      // `expected` is what the site file says
  bool told = false;         // and the source shows NVLinks where there are some
  std::optional<int> expected;
  std::string why;  // where `expected` comes from: "by its id 10de:2330", "as gpu0"
};

// Of all GPUs, by host. `expected` stays unknown where it differs by machine: soldered meshes, and cards without a
// bridge.
std::vector<std::vector<NvLinks>> nvlinks_by_host(const Input& input);

}  // namespace weft::topology::audit
