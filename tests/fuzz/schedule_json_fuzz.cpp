// Fuzz target: any bytes as a schedule from a file. Either they are refused as Corrupt with a reason, or they are a
// schedule that reads back equal; and one that is taken as a candidate is proved for calls in place and out of place.
//
// With libFuzzer: tools/fuzz schedule_json. Without it, algorithms.schedule_json_fuzz_test runs seeds and seeded
// mutations through it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "algorithms/export.hpp"
#include "algorithms/loaded_schedules.hpp"
#include "algorithms/verify.hpp"

namespace {

// A property that does not hold ends the process: that is what fuzzers look for.
void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace weft::algorithms;
  const std::string text(reinterpret_cast<const char*>(data), bytes);
  const auto schedule = schedule_from_json(text);
  const auto loaded = load_schedule({"a file", text});
  if (!schedule) require(schedule.error().code() == weft::Code::Corrupt && !schedule.error().message().empty());
  if (!loaded)
    require(loaded.error().code() == weft::Code::Corrupt && loaded.error().message().starts_with("a file: "));
  require(schedule.has_value() || !loaded.has_value());
  if (!schedule) return 0;
  const auto again = schedule_from_json(to_json(*schedule));
  require(again.has_value() && *again == *schedule);
  if (!loaded) return 0;
  for (const bool in_place : {false, true}) {
    require(verify(loaded->for_call(in_place)).ok());
    for (const weft::RankProgram& rank : loaded->for_call(in_place).ranks)
      require(rank.in_place == in_place || schedule->collective == weft::Collective::Barrier);
  }
  return 0;
}
