// Shares of a set of CPUs: whole cores, evenly.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weft::topology::advice {

// A core as the list of its CPUs.
using Core = std::vector<int>;

// How it is known which CPUs are threads of one core.
enum class Threads {
  Told,     // by the source, or because there are as many cores as CPUs
  Apart,    // of two ranges of one length the second holds the second threads: as Linux numbers CPUs on x86
  Unknown,  // the CPUs may be cores of their own, or threads
};

struct Cores {
  // If `threads` is Unknown: the least sets of CPUs that no core crosses, whichever usual numbering holds; or, where
  // these are fewer than ranks, if the one of `distances` holds.
  std::vector<Core> cores;
  Threads threads = Threads::Told;
  // Distances between the threads of a core, if not told; empty where no usual numbering fits the CPUs.
  std::vector<int> distances;
};

struct CpuPlace {
  std::optional<std::vector<std::string>> shared_cores;  // the CPUs of each core that has several, if that is known
  std::optional<int> cores;                              // of these CPUs
  std::optional<int> highest_cpu;                        // of the whole host
  std::size_t ranks = 1;                                 // that will share these CPUs
};

// The cores of a set of CPUs, sorted.
Cores cores_of(const std::vector<int>& cpus, const CpuPlace& place);

// Each CPU as if it were a core.
std::vector<Core> one_by_one(const std::vector<int>& cpus);

// `parts` lists of CPUs, of consecutive cores, none larger than another by more than one core. With fewer cores than
// parts some share a core.
std::vector<std::string> share_evenly(const std::vector<Core>& cores, std::size_t parts);

}  // namespace weft::topology::advice
