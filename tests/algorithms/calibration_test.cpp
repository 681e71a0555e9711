// What was measured of a topology: as JSON, looked up, and as the cost model goes by it.
#include "algorithms/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "algorithms/cost.hpp"
#include "algorithms/measured_table.hpp"
#include "weft/graph.hpp"

namespace weft::algorithms {
namespace {

using ::testing::HasSubstr;

// Bytes per microsecond: 1000 into messages, 800 out of them, 500 where they are reduced, 2000 within a rank.
HostCalibration host(int ranks_per_core) {
  return {ranks_per_core, 1'000, 2'000, 5'000, 9'000, {{4096, 1000, 800, 500, 2000}, {1 << 20, 100, 80, 50, 200}}};
}

MeasuredTable table_of(const Calibration& calibration, std::string fingerprint = "here") {
  return {std::move(fingerprint), {}, calibration};
}

TEST(Calibration, round_trips_through_the_file_of_the_table) {
  const MeasuredTable table = table_of({{host(1), host(4)}, NetworkCalibration{1, 2, 3, 4, {{1000, 900}, {200, 100}}}});
  const Result<MeasuredTable> read = MeasuredTable::from_json(table.to_json());
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  EXPECT_EQ(*read, table);
}

TEST(Calibration, tables_of_the_first_schema_have_none) {
  const Result<MeasuredTable> read = MeasuredTable::from_json(R"({"schema":1,"fingerprint":"","cells":[]})");
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->calibration.empty());
}

TEST(Calibration, what_is_wrong_is_named) {
  const auto error = [](const std::string& calibration) {
    const Result<MeasuredTable> table =
        MeasuredTable::from_json(R"({"schema":2,"fingerprint":"","cells":[],"calibration":)" + calibration + "}");
    return table ? "read" : std::string(table.error().message());
  };
  const std::string rates = R"({"bytes":8,"write_mbs":1,"read_mbs":1,"reduce_mbs":1,"copy_mbs":1})";
  const auto one = [&](const std::string& list) {
    return R"({"ranks_per_core":1,"call_ps":1,"overhead_ps":1,"line_ps":1,"slot_ps":1,"rates":[)" + list + "]}";
  };
  EXPECT_EQ(error(R"({"schema":1,"hosts":[]})"), "read");
  EXPECT_THAT(error(R"({"schema":2,"hosts":[]})"), HasSubstr("calibration.schema is not a whole number from 1 to 1"));
  EXPECT_THAT(error(R"({"schema":1,"hosts":[)" + one("") + "]}"), HasSubstr("rates is empty"));
  EXPECT_THAT(error(R"({"schema":1,"hosts":[)" + one(rates + "," + rates) + "]}"), HasSubstr("in the order of bytes"));
  EXPECT_THAT(error(R"({"schema":1,"hosts":[)" + one(rates) + "," + one(rates) + "]}"),
              HasSubstr("in the order of ranks_per_core"));
  EXPECT_THAT(error(R"({"schema":1,"hosts":[],"network":{}})"), HasSubstr("lacks \"call_ps\""));
}

TEST(Calibration, mangled_files_are_corrupt_and_never_crash) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  const std::string text = table_of({{host(1), host(4)}, NetworkCalibration{1, 2, 3, 4, {{9, 8}}}}).to_json();
  int read = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string mangled = text;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits)
      mangled[random() % mangled.size()] = static_cast<char>(random() % 2 == 0 ? '0' + random() % 10 : random() % 256);
    if (random() % 4 == 0) mangled.resize(random() % mangled.size());
    const Result<MeasuredTable> table = MeasuredTable::from_json(mangled);
    if (!table) {
      EXPECT_EQ(table.error().code(), Code::Corrupt) << "seed " << seed;
      continue;
    }
    ++read;
    const Result<MeasuredTable> again = MeasuredTable::from_json(table->to_json());
    ASSERT_TRUE(again.has_value()) << "seed " << seed;
    EXPECT_EQ(*again, *table) << "seed " << seed;
  }
  EXPECT_GT(read, 0) << "seed " << seed;
}

TEST(Calibration, the_nearest_size_and_the_nearest_sharing_below_count) {
  const Calibration calibration = {{host(1), host(4)}, {}};
  EXPECT_EQ(calibration.hosts[0].rates_at(1).write, 1000);
  EXPECT_EQ(calibration.hosts[0].rates_at(60 << 10).write, 1000);
  EXPECT_EQ(calibration.hosts[0].rates_at(70 << 10).write, 100);  // beyond the geometric mean of 4 KiB and 1 MiB
  EXPECT_EQ(calibration.hosts[0].rates_at(~std::uint64_t{0}).write, 100);
  EXPECT_EQ(calibration.with(1)->ranks_per_core, 1);
  EXPECT_EQ(calibration.with(3)->ranks_per_core, 1);
  EXPECT_EQ(calibration.with(9)->ranks_per_core, 4);
  EXPECT_EQ(Calibration().with(1), nullptr);
}

TEST(Calibration, of_ranks_that_share_a_core_only_the_waiting_counts) {
  HostCalibration shared = host(4);
  shared.call_ps = 3'000;
  shared.overhead_ps = 12'000;
  shared.line_ps = 50'000;
  shared.slot_ps = 0;
  shared.rates = {{4096, 1, 1, 1, 1}};
  const Calibration calibration = Calibration{{host(1), shared}, {}}.with_core_of_fewest();
  EXPECT_EQ(calibration.hosts[0], host(1));
  EXPECT_EQ(calibration.hosts[1].ranks_per_core, 4);
  EXPECT_EQ(calibration.hosts[1].overhead_ps, 2'000);
  EXPECT_EQ(calibration.hosts[1].line_ps, 50'000 + 2 * 10'000 + 2'000);
  EXPECT_EQ(calibration.hosts[1].rates, host(1).rates);
}

TEST(Calibration, what_is_newer_replaces_its_like) {
  Calibration calibration = {{host(2)}, NetworkCalibration{1, 1, 1, 0, {}}};
  HostCalibration newer = host(2);
  newer.line_ps = 7;
  calibration.update({{host(1), newer}, {}});
  ASSERT_EQ(calibration.hosts.size(), 2U);
  EXPECT_EQ(calibration.hosts[0].ranks_per_core, 1);
  EXPECT_EQ(calibration.hosts[1].line_ps, 7);
  EXPECT_TRUE(calibration.network.has_value());
}

struct Machine {
  topology::Graph graph;
  std::vector<int> placement;
};

Machine machine(std::string_view line, int ranks) {
  const Result<topology::Graph> graph = topology::model(line);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().to_string());
  return {*graph, *topology::place(*graph, ranks)};
}

// A broadcast among two.
std::int64_t message_ps(const Machine& machine, std::uint64_t bytes, const Calibration& calibration) {
  Result<Fabric> fabric = Fabric::create(machine.graph, machine.placement, calibration);
  EXPECT_TRUE(fabric.has_value());
  const Schedule schedule =
      build_schedule(*find_algorithm(Collective::Broadcast, "direct"), flat_group(2), {.in_place = true});
  const Result<Simulation> simulation = simulate(schedule, bytes, DataType::UInt8, *fabric);
  EXPECT_TRUE(simulation.has_value());
  return simulation ? simulation->makespan_ps : 0;
}

TEST(CalibratedFabric, a_message_is_written_travels_and_is_read_at_the_measured_figures) {
  const Machine two = machine("cores:2", 2);
  const Calibration calibration = {{host(1)}, {}};
  EXPECT_EQ(message_ps(two, 8, calibration), 1'000 + 2'000 + 8'000 + 5'000 + 2'000 + 10'000);
  EXPECT_EQ(message_ps(two, 64, calibration), 1'000 + 2'000 + 64'000 + 9'000 + 2'000 + 80'000);
  EXPECT_NE(message_ps(two, 64, {}), message_ps(two, 64, calibration));
}

TEST(CalibratedFabric, larger_buffers_move_at_the_rate_of_their_cache) {
  const Machine two = machine("cores:2", 2);
  const Calibration calibration = {{host(1)}, {}};
  EXPECT_EQ(message_ps(two, 60'000, calibration), 1'000 + 2'000 + 600'000'000 + 9'000 + 2'000 + 750'000'000);
}

TEST(CalibratedFabric, each_host_s_link_has_its_measured_rate_each_way) {
  const Machine two = machine("hosts:2 cores:2 nic:1 eth:10", 2);
  NetworkCalibration network{0, 1'000'000, 20'000'000, 0, {{100, 50}, {10, 40}}};
  const auto crossing = [&] { return message_ps(two, 1 << 20, {{}, network}); };
  constexpr double kUs = 1e6;
  EXPECT_NEAR(static_cast<double>(crossing()), (1 << 20) / 40.0 * kUs, 0.03 * (1 << 20) / 40.0 * kUs);
  network.together = 20;
  EXPECT_NEAR(static_cast<double>(crossing()), (1 << 20) / 20.0 * kUs, 0.03 * (1 << 20) / 20.0 * kUs);
  network.hosts[0].up = 5;
  EXPECT_NEAR(static_cast<double>(crossing()), (1 << 20) / 5.0 * kUs, 0.03 * (1 << 20) / 5.0 * kUs);
}

TEST(CalibratedFabric, what_more_ranks_share_a_core_than_were_measured_waits_longer) {
  Calibration calibration = {{host(1)}, {}};
  const std::int64_t apart = message_ps(machine("cores:2", 2), 8, calibration);
  const std::int64_t shared = message_ps(machine("cores:1", 2), 8, calibration);
  EXPECT_EQ(shared - apart, 5'000);
  calibration.hosts.push_back(host(2));
  calibration.hosts.back().line_ps = 700'000;
  EXPECT_EQ(message_ps(machine("cores:1", 2), 8, calibration) - apart, 695'000);
}

TEST(CalibratedModel, goes_by_what_was_measured_on_its_own_topology_only) {
  const Machine two = machine("cores:2", 2);
  const auto model = [&](const MeasuredTable* table) {
    return std::move(CostModel::create(topology::make_group(two.graph, two.placement), two.graph, two.placement, table))
        .value();
  };
  const Algorithm& ring = *find_algorithm(Collective::AllReduce, "ring");
  CostModel nominal = model(nullptr);
  const MeasuredTable here = table_of({{host(1)}, {}}, nominal.fingerprint());
  const MeasuredTable there = table_of({{host(1)}, {}}, "elsewhere");
  CostModel calibrated = model(&here);
  CostModel foreign = model(&there);
  EXPECT_TRUE(calibrated.calibrated());
  EXPECT_FALSE(foreign.calibrated());
  EXPECT_EQ(foreign.estimate(ring, 1, 1 << 20)->time_ns, nominal.estimate(ring, 1, 1 << 20)->time_ns);
  EXPECT_GT(calibrated.estimate(ring, 1, 1 << 20)->time_ns, 10 * nominal.estimate(ring, 1, 1 << 20)->time_ns);
}

}  // namespace
}  // namespace weft::algorithms
