// What the ranks of a host run on, in the order of local ranks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology::advice {

struct RankDevices {
  std::vector<int> devices;          // node ids: the GPUs that programs see, else core groups, else the machine
  std::map<int, std::string> parts;  // of a core group that has CPUs of smaller ones, too: the others
  std::vector<std::string> notes;
  bool cuda_must_be_told = false;  // as in gpu_order.hpp
};

// `allowed`: the CPUs that processes may use, sorted, if that is known; core groups without any are left out.
RankDevices rank_devices(const Survey& survey, const Locality& locality, int host,
                         const std::optional<std::vector<int>>& allowed);

}  // namespace weft::topology::advice
