// What the ranks of a host run on, in the order of local ranks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology::advice {

// The GPUs of a host, without graphics inside processors where there are others: jobs do not count those.
std::vector<int> accelerators(const Locality& locality, int host);

struct RankDevices {
  // Node ids: the GPUs that programs see, else core groups, else NUMA nodes with CPUs, else the machine.
  std::vector<int> devices;
  std::map<int, std::string> parts;  // of a core group that has CPUs of smaller ones, too: the others
  std::vector<std::string> notes;
  bool cuda_must_be_told = false;  // as in gpu_order.hpp
};

// `allowed`: the CPUs that processes may use, sorted, if that is known; core groups and NUMA nodes without any
// are left out.
RankDevices rank_devices(const Survey& survey, const Locality& locality, int host,
                         const std::optional<std::vector<int>>& allowed);

}  // namespace weft::topology::advice
