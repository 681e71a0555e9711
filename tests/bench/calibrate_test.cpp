// From times to the figures of the cost model, and what of a table's file is kept.
#include "bench/weft-bench/calibrate.hpp"

#include <gmock/gmock.h>

#include "bench/weft-bench/table_file.hpp"

namespace weft::bench {
namespace {

using algorithms::Calibration;
using algorithms::HostCalibration;
using algorithms::MeasuredTable;
using ::testing::HasSubstr;

constexpr double kSlice = 64 << 10;
constexpr double kWriteRate = 25'000;

// Times that a machine of these figures shows: 10,000 bytes/us out of messages, 5,000 where they are reduced, and
// 10,000 into those of a slice, 25,000 into longer ones.
HostTimes times_of(double call, double overhead, double line, double slot, int ranks_per_core) {
  constexpr double kRate = 10'000;
  HostTimes times;
  times.call = call;
  times.flood = call + overhead;
  times.line = call + 2 * overhead + line;
  const double base = call + 2 * overhead + slot;
  times.short_slot = base + 2 * kShortSlotBytes / kRate;
  for (const std::uint64_t bytes : {4096U, 1U << 16, 1U << 20}) {
    const auto n = static_cast<double>(bytes);
    const bool one_slice = n <= kSlice;
    times.sizes.push_back({bytes, base + (one_slice ? 2 * n : ranks_per_core * n + kSlice) / kRate,
                           base + (one_slice ? 3 * n : 2 * (ranks_per_core * n + kSlice)) / kRate,
                           base + ranks_per_core * n / 2 * (1 / kRate + 1 / kWriteRate), n / 2 / 20'000});
  }
  return times;
}

TEST(Solve, finds_the_figures_that_the_times_come_from) {
  for (const int ranks_per_core : {1, 4}) {
    const HostCalibration host = solve(times_of(0.02, 0.01, 0.08, 0.12, ranks_per_core), ranks_per_core);
    EXPECT_EQ(host.ranks_per_core, ranks_per_core);
    EXPECT_EQ(host.call_ps, 20'000);
    EXPECT_EQ(host.overhead_ps, 10'000);
    EXPECT_NEAR(static_cast<double>(host.line_ps), 80'000, 1);
    EXPECT_NEAR(static_cast<double>(host.slot_ps), 120'000, 1);
    ASSERT_EQ(host.rates.size(), 3U);
    for (const algorithms::CoreRates& rates : host.rates) {
      EXPECT_NEAR(static_cast<double>(rates.read), 10'000, 2) << rates.bytes;
      EXPECT_NEAR(static_cast<double>(rates.write), rates.bytes > kSlice ? kWriteRate : 10'000, 10) << rates.bytes;
      EXPECT_NEAR(static_cast<double>(rates.reduce), 5'000, 2) << rates.bytes;
      EXPECT_EQ(rates.copy, 20'000) << rates.bytes;
    }
  }
}

TEST(Solve, times_that_contradict_each_other_give_figures_that_can_be_used) {
  // A clock that stood still, and a machine that became faster meanwhile.
  HostTimes times = times_of(0, 0, 0, 0, 1);
  times.line = times.short_slot = 0;
  times.flood = 5;
  for (SizeTimes& size : times.sizes) size.one_way = size.reduce = size.exchange = size.copy = 0;
  const HostCalibration host = solve(times, 1);
  EXPECT_GE(host.overhead_ps, 0);
  EXPECT_GE(host.line_ps, 0);
  EXPECT_GE(host.slot_ps, 0);
  const MeasuredTable table{"here", {}, Calibration{{host}, {}}};
  const auto read = MeasuredTable::from_json(table.to_json());
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  EXPECT_EQ(*read, table);
}

TEST(TableFile, a_calibration_keeps_the_cells_and_cells_keep_the_calibration) {
  const Calibration calibration = {{solve(times_of(1, 1, 1, 1, 1), 1)}, {}};
  const algorithms::MeasuredCell cell = {Collective::AllReduce, 4, 1024, "direct", 1, 5};
  const auto tuned = merged(MeasuredTable(), "here", std::vector{cell});
  ASSERT_TRUE(tuned.has_value());
  const auto both = merged(*tuned, "here", calibration);
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->cells, std::vector{cell});
  const auto again = merged(*both, "here", std::vector{cell});
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->calibration, calibration);
}

TEST(TableFile, a_calibration_of_another_topology_is_not_overwritten) {
  const Calibration calibration = {{solve(times_of(1, 1, 1, 1, 1), 1)}, {}};
  const auto table = merged(MeasuredTable{"there", {}, calibration}, "here", calibration);
  EXPECT_THAT(std::string(table.status().message()), HasSubstr("another topology (there, this one is here)"));
}

}  // namespace
}  // namespace weft::bench
