// Fuzz target: any bytes as a schedule from a file. Either they are refused as Corrupt with a reason, or they are a
// schedule that reads back equal; and one that is taken as a candidate is proved for calls in place and out of place,
// costed, written in words, searched for the order of its operands and bound to bytes on every rank.
//
// With libFuzzer: tools/fuzz schedule_json. Without it, algorithms.schedule_json_fuzz_test runs seeds and seeded
// mutations through it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/export.hpp"
#include "algorithms/loaded_schedules.hpp"
#include "algorithms/operand_order.hpp"
#include "algorithms/verify.hpp"
#include "comm/bound_plan.hpp"
#include "weft/graph.hpp"

namespace {

using weft::Schedule;
using weft::algorithms::LoadedSchedule;

// Above them a schedule is right, but the readers take longer than a fuzzer's run may.
constexpr int kMaxRanks = 16;
constexpr int kMaxChunks = 4096;

// A property that does not hold ends the process: that is what fuzzers look for.
void require(bool holds) {
  if (!holds) std::abort();
}

// What the selector asks.
void cost(const LoadedSchedule& loaded) {
  const auto graph = weft::topology::model("cpu-2socket");
  require(graph.has_value());
  const auto placement = weft::topology::place(*graph, loaded.size());
  require(placement.has_value());
  auto model = weft::algorithms::CostModel::create(weft::topology::make_group(*graph, *placement), *graph, *placement);
  require(model.has_value() && model->estimate(loaded, 5000).has_value());
}

// A lane for each peer and channel; a rank reaches all but itself.
class Lanes final : public weft::comm::LaneDirectory {
 public:
  Lanes(const Schedule& schedule, int rank) : size_(schedule.size), channels_(schedule.channels), rank_(rank) {}
  std::uint16_t lane(int peer, int channel) override {
    require(peer >= 0 && peer < size_ && peer != rank_ && channel >= 0 && channel < channels_);
    return static_cast<std::uint16_t>(peer * channels_ + channel);
  }
  std::uint32_t slices(std::uint16_t, std::uint64_t bytes) const override {
    return static_cast<std::uint32_t>(bytes / 64 + 1);
  }

 private:
  int size_;
  int channels_;
  int rank_;
};

// As a communicator does for calls of several lengths, long ones in passes, and for blocks of unequal lengths.
void bind(const LoadedSchedule& loaded, const Schedule& schedule, int rank) {
  Lanes lanes(schedule, rank);
  weft::Operation operation;
  operation.collective = schedule.collective;
  operation.root = schedule.root;
  operation.dtype = weft::DataType::Float32;
  if (schedule.collective != weft::Collective::Barrier) {
    const weft::comm::Passes passes{.replicas = 1, .chunk_bytes = schedule.uneven ? 64U : 0U};
    for (const std::uint64_t count : {1U, 1001U}) {
      operation.count = count;
      weft::comm::bind(schedule, rank, operation, lanes, passes);
    }
  }
  operation.count = 0;
  weft::comm::bind(schedule, rank, operation, lanes);
  if (!loaded.v_variants) return;
  std::vector<std::uint64_t> counts;
  for (int block = 0; block < schedule.size; ++block) counts.push_back(static_cast<std::uint64_t>(block) * 37);
  operation.uneven = true;
  operation.count =
      schedule.collective == weft::Collective::AllToAll ? counts.back() : counts[static_cast<std::size_t>(rank)];
  operation.in_blocks.counts = operation.out_blocks.counts = counts.data();
  weft::comm::bind(schedule, rank, operation, lanes);
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
  require(!to_text(*schedule).empty() && !to_dot(*schedule).empty());
  if (schedule->size > kMaxRanks || weft::layout_of(*schedule).chunks() > kMaxChunks) return 0;
  cost(*loaded);
  for (const bool in_place : {false, true})
    for (int rank = 0; rank < schedule->size; ++rank) {
      const Schedule& made = loaded->for_call(in_place);
      if (const auto swapped = swapped_operands(made, rank); !swapped)
        require(swapped.error().code() == weft::Code::Unsupported);
      bind(*loaded, made, rank);
    }
  return 0;
}
