// Copies between core groups: one core writes, a core of another group copies.
#pragma once

#include <optional>
#include <vector>

namespace weft::topology {

struct CacheCopy {
  double gbs = 0;
  double latency_us = 0;  // of one cache line, one way
};

// A writer and a reader, both CPUs.
struct CopyPair {
  int writer = 0;
  int reader = 0;
};

// All pairs at the same time. Nothing if a CPU may not be used, or two pairs share one.
std::optional<std::vector<CacheCopy>> time_copies(const std::vector<CopyPair>& pairs);

}  // namespace weft::topology
