// Random messages between all ranks of a job, every one of which is checked: bytes, source, tag, and the order of those
// that match alike.
#pragma once

#include <cstdint>

#include "tests/comm/support/thread_ranks.hpp"

namespace weft::testing {

struct Traffic {
  std::uint64_t seed = 1;
  int ranks = 3;
  int rounds = 4;
  int messages = 60;  // of a round, between all ranks
  std::uint64_t max_bytes = 200'000;
};

void run_traffic(const JobOptions& job, const Traffic& traffic);

}  // namespace weft::testing
