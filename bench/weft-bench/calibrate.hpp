// --calibrate: measures what the cost model goes by (algorithms/calibration.hpp) with messages between two ranks at a
// time, and writes it into the file of --table.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/calibration.hpp"
#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/runner.hpp"
#include "weft/communicator.hpp"

namespace weft::bench {

// Collective. Rank 0 prints what was measured, and writes the file.
Result<Summary> calibrate(Communicator& communicator, const Arguments& arguments, const Options& options);

// Of each rank the number of its host, in the order in which they first appear: as the topology numbers them.
using HostOfRank = std::vector<int>;

// Collective. Messages between neighbours on each host, all such pairs at once. Nothing if no host has two ranks.
Result<std::optional<algorithms::HostCalibration>> calibrate_host(Communicator& communicator, const HostOfRank& hosts);
// Collective. Messages between the first ranks of the hosts, two at a time and then all at once. Nothing if there is
// one host.
Result<std::optional<algorithms::NetworkCalibration>> calibrate_network(Communicator& communicator,
                                                                        const HostOfRank& hosts);

// Times of one size in microseconds.
struct SizeTimes {
  std::uint64_t bytes = 0;
  double one_way = 0;   // a message from one buffer into another
  double reduce = 0;    // the same, reduced where it arrives
  double exchange = 0;  // messages of half as many bytes, both ways at once
  double copy = 0;      // within a rank, of half as many bytes: from one half of its buffers to the other
};
struct HostTimes {
  double call = 0;               // one that sends no message
  double flood = 0;              // messages of a line, one behind the other
  double line = 0;               // a message of a line, one way
  double short_slot = 0;         // one of kShortSlotBytes
  std::vector<SizeTimes> sizes;  // the first of at least 2 * kShortSlotBytes
};
inline constexpr std::uint64_t kShortSlotBytes = 256;

// What the cost model must assume to come to these times.
algorithms::HostCalibration solve(const HostTimes& times, int ranks_per_core);

}  // namespace weft::bench
