// The cost model: lines between simulated sizes, and what it keeps.
#include "algorithms/cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "weft/graph.hpp"

namespace weft::algorithms {
namespace {

CostModel model_of(std::string_view line, int ranks) {
  const Result<topology::Graph> graph = topology::model(line);
  EXPECT_TRUE(graph.has_value());
  const Result<std::vector<int>> placement = topology::place(*graph, ranks);
  EXPECT_TRUE(placement.has_value());
  Result<CostModel> model = CostModel::create(topology::make_group(*graph, *placement), *graph, *placement);
  EXPECT_TRUE(model.has_value());
  return std::move(model).value();
}

const Algorithm& ring() { return *find_algorithm(Collective::AllReduce, "ring"); }

TEST(TimeCurve, IsALineBetweenPointsAndGoesOnBeyondThem) {
  TimeCurve curve;
  EXPECT_TRUE(curve.empty());
  curve.add(100, 1000);
  EXPECT_EQ(curve.at(50), 1000);
  EXPECT_EQ(curve.at(200), 2000);
  curve.add(300, 2000);
  EXPECT_EQ(curve.at(100), 1000);
  EXPECT_EQ(curve.at(200), 1500);
  EXPECT_EQ(curve.at(101), 1005);
  EXPECT_EQ(curve.at(500), 3000);
  curve.add(300, 1800);
  EXPECT_EQ(curve.at(300), 1800);
}

TEST(TimeCurve, NeverRunsBelowItsLastPoint) {
  TimeCurve curve;
  curve.add(100, 1000);
  curve.add(200, 500);
  EXPECT_EQ(curve.at(150), 750);
  EXPECT_EQ(curve.at(10'000), 500);
}

TEST(TimeCurve, SurvivesTheLargestSizes) {
  TimeCurve curve;
  curve.add(std::uint64_t{1} << 62, std::int64_t{1} << 60);
  curve.add((std::uint64_t{1} << 62) + 2, (std::int64_t{1} << 60) + 2);
  EXPECT_EQ(curve.at((std::uint64_t{1} << 62) + 1), (std::int64_t{1} << 60) + 1);
}

TEST(CostModel, CountsOfBytesAreThoseOfNcclTests) {
  EXPECT_EQ(count_of_bytes(Collective::AllReduce, 8, 1024, DataType::Float32), 256U);
  EXPECT_EQ(count_of_bytes(Collective::AllGather, 8, 1024, DataType::Float32), 32U);
  EXPECT_EQ(count_of_bytes(Collective::Barrier, 8, 1024), 0U);
}

TEST(CostModel, AtASimulatedSizeItIsTheSimulation) {
  CostModel model = model_of("dgx-h100", 8);
  const Result<topology::Graph> graph = topology::model("dgx-h100");
  Result<Fabric> fabric = Fabric::create(*graph, *topology::place(*graph, 8));
  const Schedule schedule = build_schedule(ring(), model.group());
  for (const std::uint64_t bytes : {8ULL, 1ULL << 20, 1ULL << 30}) {
    const Result<Simulation> simulation = simulate(schedule, bytes, DataType::UInt8, *fabric);
    EXPECT_EQ(model.estimate(ring(), 1, bytes)->time_ns, (simulation->makespan_ps + 500) / 1000) << bytes;
  }
}

TEST(CostModel, BetweenSimulatedSizesItStaysWithinTenPercent) {
  CostModel model = model_of("dgx-h100", 8);
  const Result<topology::Graph> graph = topology::model("dgx-h100");
  Result<Fabric> fabric = Fabric::create(*graph, *topology::place(*graph, 8));
  double worst = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->collective != Collective::AllReduce) continue;
    if (!algorithm->unsupported(model.group(), {.collective = Collective::AllReduce, .count = 8}).empty()) continue;
    const Schedule schedule = build_schedule(*algorithm, model.group());
    for (std::uint64_t bytes = 24; bytes < 1ULL << 30; bytes *= 2) {
      const Result<Simulation> simulation = simulate(schedule, bytes, DataType::UInt8, *fabric);
      const double exact = static_cast<double>(simulation->makespan_ps) / 1000;
      const double estimate = static_cast<double>(model.estimate(*algorithm, 1, bytes)->time_ns);
      worst = std::max(worst, std::abs(estimate / exact - 1));
    }
  }
  RecordProperty("worst_relative_error", std::to_string(worst));
  EXPECT_LT(worst, 0.1);
}

TEST(CostModel, BeyondTheLastSizeTimeGrowsWithTheBytes) {
  CostModel model = model_of("dgx-h100", 8);
  const std::int64_t one = model.estimate(ring(), 1, 1ULL << 30)->time_ns;
  const std::int64_t eight = model.estimate(ring(), 1, 8ULL << 30)->time_ns;
  EXPECT_NEAR(static_cast<double>(eight), 8.0 * static_cast<double>(one), 0.01 * static_cast<double>(eight));
}

TEST(CostModel, TheBusiestRankOfARingSendsTwiceTheMessageButTwoChunks) {
  CostModel model = model_of("dgx-h100", 8);
  const Result<Estimate> estimate = model.estimate(ring(), 1, 1 << 20);
  EXPECT_EQ(estimate->sent_numerator, 7U);
  EXPECT_EQ(estimate->sent_denominator, 4U);
  EXPECT_EQ(model.estimate(ring(), 2, 1 << 20)->sent_numerator, 7U);
}

TEST(CostModel, AGroupAndAPlacementMustFit) {
  const Result<topology::Graph> graph = topology::model("dgx-h100");
  const Result<CostModel> model = CostModel::create(flat_group(4), *graph, *topology::place(*graph, 8));
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().code(), Code::InvalidArgument);
}

}  // namespace
}  // namespace weft::algorithms
