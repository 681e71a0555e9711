// Launch: which launcher started this process, its rank and size, and where rank 0's store is to be.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/deadline.hpp"
#include "base/environment.hpp"
#include "weft/status.hpp"

namespace weft::base {

struct Launch {
  std::string source;  // "WEFT", "torchrun", "openmpi", "mpich", "slurm", "single"
  int rank = 0;
  int size = 1;
  std::string host;  // empty when size is 1; else one or several, separated by commas, to be tried in turn
  int port = 0;
  int port_tries = 1;
  std::string job;

  bool operator==(const Launch&) const = default;
};

// Tells all ranks of the job what rank 0 offers. Collective over the ranks that the launcher started; `offer` counts on
// rank 0 only. At most 900 printable characters without spaces.
struct ExchangeCall {
  const Environment& environment;
  int rank;
  int size;
  std::string offer;
  Deadline deadline;
};
using Exchange = std::function<Result<std::string>(const ExchangeCall& call)>;

Result<std::string> exchange_by_pmix(const ExchangeCall& call);  // Open MPI: libpmix.so.2, loaded now
Result<std::string> exchange_by_pmi(const ExchangeCall& call);   // MPICH, Intel MPI: PMI-1 on PMI_FD or PMI_PORT

// How find_launch reaches the outside world; tests put their own here.
struct LaunchHelpers {
  Exchange pmix;
  Exchange pmi;
  std::function<Result<std::string>(const std::string& interface)> offer;  // rank 0's, see offer.hpp
};
// The real ones. A launcher is asked once per process; later calls get the same answer.
LaunchHelpers launch_helpers();

struct LaunchSettings {
  std::string interface;
  int timeout_ms = 0;
};

// The first complete source of: WEFT_*, torchrun, Open MPI, MPICH, Slurm; a process that none of them started is rank 0
// of 1. InvalidArgument if a source is incomplete or contradicts itself; names what is missing.
Result<Launch> find_launch(const Environment& environment, const LaunchSettings& settings,
                           const LaunchHelpers& helpers);

// The first host of Slurm's compact list: "n01" of "n[01-03,07],m1". Empty if the list is malformed.
std::string first_host_of(std::string_view slurm_list);

}  // namespace weft::base
