// This machine and where the ranks are on it, for the head of a report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/communicator.hpp"

namespace weft::bench {

struct Machine {
  std::string host;
  std::string cpu;  // model name
  int cores = 0;    // that this process may use
  std::uint64_t memory_bytes = 0;
  std::uint64_t available_bytes = 0;
  std::string kernel;
};
Machine this_machine();

// The processors this process may run on, in list form: "0-3,8".
std::string allowed_cpus();
// The same, one physical core after the other before their second threads.
std::vector<int> allowed_cores();

struct RankPlace {
  std::string host;
  std::string cpus;
  int pid = 0;
};
// Collective: every rank's, by rank.
Result<std::vector<RankPlace>> gather_places(Communicator& communicator, const Machine& machine);

// The transports that carry this rank's bytes: "shm", "shm+ucx", or "self" for one rank.
std::string transports_of(const Communicator& communicator);

}  // namespace weft::bench
