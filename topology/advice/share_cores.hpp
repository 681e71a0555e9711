// Shares of a set of CPUs: whole cores, evenly.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weft::topology::advice {

// A core as the list of its CPUs.
using Core = std::vector<int>;

// The cores of a set of CPUs. `shared_cores`: the CPUs of each core that has several, if that is known. If it is not,
// but the set has a multiple of `cores` CPUs, threads of a core are taken to be as far apart as Linux numbers them on
// x86: all cores first, then their second threads.
std::vector<Core> cores_of(const std::vector<int>& cpus, const std::optional<std::vector<std::string>>& shared_cores,
                           std::optional<int> cores);

// `parts` lists of CPUs, of consecutive cores, none larger than another by more than one core. With fewer cores than
// parts some share a core.
std::vector<std::string> share_evenly(const std::vector<Core>& cores, std::size_t parts);

}  // namespace weft::topology::advice
