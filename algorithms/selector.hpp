// selector: which algorithm serves a call. The user's override first, then the measured table of this topology, then
// the cost model; and a Choice that can say why.
//
// A pure function of data that all ranks agree on, in integers, ties broken by name: so all ranks choose alike.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/measured_table.hpp"
#include "base/message_sizes.hpp"
#include "weft/choice.hpp"
#include "weft/schedule_builder.hpp"
#include "weft/status.hpp"

namespace weft::algorithms {

using base::format_bytes;
using base::parse_bytes;

inline constexpr std::uint64_t kNoByteLimit = std::numeric_limits<std::uint64_t>::max();

// One rule of the user's: calls of `collective` with first <= bytes < end use `algorithm`.
struct Override {
  Collective collective = Collective::Barrier;
  std::uint64_t first_bytes = 0;
  std::uint64_t end_bytes = kNoByteLimit;  // kNoByteLimit: no end
  std::string algorithm;
  int channels = 0;  // 0: chosen

  bool operator==(const Override&) const = default;
};

struct Overrides {
  std::vector<Override> rules;
  int channels = 0;  // of every call (Options::channels); a rule's own count wins. 0: chosen

  // Options::algorithms: rules separated by ';', each "collective:range:algorithm" or "collective:algorithm", an
  // optional "@channels" behind. Ranges are "4k-1m", "-4k", "1m-" or "0-4k"; k, m, g are powers of 1024; the end is
  // exclusive. Blanks are ignored. An empty text has no rules. InvalidArgument quotes the wrong piece and lists what is
  // known; overlapping ranges are refused.
  // `loaded`: schedules of files, which rules may name, too; null: none.
  static Result<Overrides> parse(std::string_view text, const LoadedSchedules* loaded = nullptr);
  // The rule for a call, or null.
  const Override* find(Collective collective, std::uint64_t bytes) const;

  bool operator==(const Overrides&) const = default;
};

enum class Detail : std::uint8_t {
  Winner,      // candidates beyond the winner only as far as they were needed to find it
  Everything,  // all candidates, with estimates
};

// Picks the algorithm of a call; the winner does not depend on `detail`. Never fails for a call that some algorithm
// supports; Unsupported lists why each one cannot. `table` may be null; a table of another topology is ignored and the
// Choice says so. `loaded` are candidates besides the built-in algorithms; null: none.
Result<Choice> choose(const Request& request, const Overrides& overrides, const MeasuredTable* table, CostModel& model,
                      Detail detail = Detail::Everything, const LoadedSchedules* loaded = nullptr);

// What the winner of a choice is built with: the algorithm and BuildOptions::replicas; or a loaded schedule.
struct Selected {
  const Algorithm* algorithm = nullptr;
  int replicas = 1;
  const LoadedSchedule* loaded = nullptr;
};
// Null algorithm if the candidate names none that exists (a vendor call). `root` is that of the call.
Selected selected(const Choice& choice, const LoadedSchedules* loaded = nullptr, int root = 0);

// The bytes that a choice goes by: message_bytes of the call.
std::uint64_t message_bytes(const Request& request, int size);

}  // namespace weft::algorithms
