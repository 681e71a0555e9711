// Simulated times against closed forms, and the invariants of a simulation.
#include "algorithms/simulate.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "algorithms/simulate_flows.hpp"
#include "weft/group.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

using ::testing::HasSubstr;

constexpr double kLinkUs = 1.0;  // latency of one link of the uniform switch, so 2 us from rank to rank
constexpr double kGbs = 100;     // 100'000 bytes per us
constexpr std::int64_t kUs = 1'000'000;
constexpr std::int64_t kStart = 6'600'000;                // of a call on GPUs
constexpr std::int64_t kAlpha = 2 * kUs + 300'000;        // path and overhead of one message between GPUs
constexpr std::uint64_t kWhole = std::uint64_t{1} << 40;  // slices that long: no pipelining

// Ranks 0 .. n-1 on GPUs around one switch; links are added in the given order.
topology::Graph uniform_switch(int n, std::vector<int> order = {}) {
  topology::Graph graph;
  graph.name = "uniform";
  topology::Node machine;
  machine.kind = topology::NodeKind::Machine;
  machine.name = "host0";
  graph.add(machine);
  topology::Node hub;
  hub.kind = topology::NodeKind::NvSwitch;
  hub.name = "switch";
  hub.parent = 0;
  graph.add(hub);
  for (int i = 0; i < n; ++i) {
    topology::Node gpu;
    gpu.kind = topology::NodeKind::Gpu;
    gpu.name = fmt::format("gpu{}", i);
    gpu.parent = 0;
    gpu.loopback_gbs = 1000;
    graph.add(gpu);
  }
  if (order.empty()) {
    order.resize(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
  }
  for (const int i : order) graph.connect(2 + i, 1, topology::LinkKind::NvLink, kGbs, kLinkUs, "measured");
  return graph;
}

std::vector<int> first_gpus(int n) {
  std::vector<int> placement(static_cast<std::size_t>(n));
  std::iota(placement.begin(), placement.end(), 2);
  return placement;
}

Fabric fabric_of(topology::Graph graph, std::vector<int> placement) {
  Result<Fabric> fabric = Fabric::create(std::move(graph), std::move(placement));
  EXPECT_TRUE(fabric.has_value());
  return std::move(fabric).value();
}

Schedule all_reduce_schedule(std::string_view name, int ranks, BuildOptions options = {}) {
  return build_schedule(*find_algorithm(Collective::AllReduce, name), flat_group(ranks), options);
}

Simulation run(const Schedule& schedule, std::uint64_t bytes, Fabric& fabric, SimulationOptions options = {}) {
  Result<Simulation> simulation = simulate(schedule, bytes, DataType::UInt8, fabric, options);
  EXPECT_TRUE(simulation.has_value()) << (simulation ? "" : simulation.error().to_string());
  return simulation ? std::move(simulation).value() : Simulation();
}

// One message of `bytes` from rank 0 to rank 1, in two ranks' programs of a broadcast.
Schedule one_message() {
  Schedule schedule;
  schedule.algorithm = "by_hand";
  schedule.collective = Collective::Broadcast;
  schedule.size = 2;
  schedule.ranks.resize(2);
  schedule.ranks[0].channels = {{Step{.kind = StepKind::Send, .peer = 1, .src = {Space::Input, 0, 0, 1}}}};
  schedule.ranks[1].channels = {{Step{.kind = StepKind::Recv, .peer = 0, .dst = {Space::Output, 0, 0, 1}}}};
  return schedule;
}

TEST(Simulate, OneMessageTakesLatencyAndBytesOverTheRate) {
  Fabric fabric = fabric_of(uniform_switch(2), first_gpus(2));
  const Simulation simulation = run(one_message(), 1'000'000, fabric);
  EXPECT_EQ(simulation.makespan_ps, kStart + kAlpha + 10 * kUs);
  EXPECT_EQ(simulation.critical.messages, 1);
  EXPECT_EQ(simulation.critical.transfer_ps, 10 * kUs);
  ASSERT_EQ(simulation.messages.size(), 1U);
  EXPECT_EQ(simulation.messages[0].arrival_ps - simulation.messages[0].end_ps, 2 * kUs);
  EXPECT_EQ(simulation.critical.bottleneck, "gpu0 -> switch");
}

TEST(Simulate, RingAllReduceWithoutPipeliningMeetsTheClosedForm) {
  for (const int ranks : {2, 3, 4, 8, 16}) {
    Fabric fabric = fabric_of(uniform_switch(ranks), first_gpus(ranks));
    const std::uint64_t chunk = 1'000'000;
    const auto steps = 2 * (ranks - 1);
    const Simulation simulation = run(all_reduce_schedule("ring", ranks), chunk * static_cast<std::uint64_t>(ranks),
                                      fabric, {.slice_bytes = kWhole});
    EXPECT_EQ(simulation.makespan_ps, kStart + steps * (kAlpha + 10 * kUs)) << ranks << " ranks";
    EXPECT_EQ(simulation.critical.messages, steps);
    EXPECT_EQ(simulation.critical.transfer_ps, steps * 10 * kUs);
  }
}

TEST(Simulate, SlicesHideTheLatencyOfARingButNotItsBytes) {
  Fabric fabric = fabric_of(uniform_switch(8), first_gpus(8));
  const std::uint64_t bytes = 64 << 20;
  const Simulation simulation = run(all_reduce_schedule("ring", 8), bytes, fabric);
  const std::int64_t transfer = 14 * transfer_ps(bytes / 8, 100'000);
  EXPECT_GE(simulation.makespan_ps, kStart + kAlpha + transfer);
  EXPECT_LE(simulation.makespan_ps, kStart + 2 * kAlpha + transfer + 14);
}

TEST(Simulate, DirectAllReduceSharesTheLinkOfTheReceiver) {
  // Seven messages leave each GPU and seven arrive, through links that carry one each at a time: seven times the bytes.
  Fabric fabric = fabric_of(uniform_switch(8), first_gpus(8));
  const Simulation simulation = run(all_reduce_schedule("direct", 8), 1'000'000, fabric);
  EXPECT_GE(simulation.makespan_ps, kStart + kAlpha + 70 * kUs);
  EXPECT_LE(simulation.makespan_ps, kStart + 8 * kAlpha + 80 * kUs);
}

TEST(Simulate, PartsOfTheCriticalPathSumUpToTheMakespan) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const int ranks : {2, 5, 8}) {
      const Group group = flat_group(ranks);
      const Request request = {.collective = algorithm->collective, .count = 1024};
      if (!algorithm->unsupported(group, request).empty()) continue;
      Fabric fabric = fabric_of(uniform_switch(ranks), first_gpus(ranks));
      const Schedule schedule = build_schedule(*algorithm, group);
      for (const Sharing sharing : {Sharing::MaxMin, Sharing::Queue}) {
        for (const std::uint64_t bytes : {0ULL, 1ULL, 1000ULL, 1ULL << 20, 1ULL << 26}) {
          const Simulation simulation = run(schedule, bytes, fabric, {.sharing = sharing});
          const CriticalPath& path = simulation.critical;
          EXPECT_EQ(path.latency_ps + path.transfer_ps + path.local_ps, simulation.makespan_ps)
              << algorithm->name << " " << bytes;
        }
      }
    }
  }
}

TEST(Simulate, BytesOfAResourceAreThoseOfItsMessages) {
  Fabric fabric = fabric_of(uniform_switch(4), first_gpus(4));
  const Simulation simulation = run(all_reduce_schedule("ring", 4), 4'000'000, fabric);
  std::uint64_t links = 0;
  for (const ResourceUse& use : simulation.resources)
    if (use.link >= 0) links += use.bytes;
  std::uint64_t messages = 0;
  for (const SimulatedMessage& message : simulation.messages) messages += message.bytes;
  EXPECT_EQ(messages, 4U * 6 * 1'000'000);  // 2(P-1) messages of a quarter from each rank
  EXPECT_EQ(links, 2 * messages);           // over two links each
}

TEST(Simulate, OrderOfLinksInTheGraphChangesNothing) {
  const unsigned seed = 20261129;
  std::mt19937 random(seed);
  std::vector<int> order = {0, 1, 2, 3, 4, 5, 6, 7};
  Fabric fabric = fabric_of(uniform_switch(8), first_gpus(8));
  const Schedule schedule = all_reduce_schedule("direct", 8);
  Simulation expected = run(schedule, 1'234'567, fabric);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    Fabric shuffled = fabric_of(uniform_switch(8, order), first_gpus(8));
    Simulation simulation = run(schedule, 1'234'567, shuffled);
    for (ResourceUse& use : simulation.resources) use.link = -1;
    for (ResourceUse& use : expected.resources) use.link = -1;
    EXPECT_EQ(simulation, expected) << "seed " << seed << ", round " << round;
  }
}

TEST(Simulate, CoresOfCpuRanksCopyOneThingAtATime) {
  topology::Graph graph;
  topology::Node node;
  node.kind = topology::NodeKind::Machine;
  node.name = "host0";
  graph.add(node);
  node.kind = topology::NodeKind::CoreGroup;
  node.name = "cores0";
  node.parent = 0;
  node.loopback_gbs = 10;
  node.loopback_us = 0.1;
  graph.add(node);
  Fabric fabric = fabric_of(graph, {1, 1, 1, 1});
  // One way, one core writes the message while the other reads it, a slice behind.
  Fabric pair = fabric_of(graph, {1, 1});
  constexpr std::int64_t kOverhead = 15'000;
  constexpr std::int64_t kLatency = 100'000;
  const std::int64_t slice = transfer_ps(64 << 10, 10'000);
  EXPECT_EQ(run(one_message(), 1'000'000, pair).makespan_ps, slice + 100 * kUs + 2 * kOverhead + kLatency);
  EXPECT_EQ(run(one_message(), 1000, pair).makespan_ps, 2 * transfer_ps(1000, 10'000) + 2 * kOverhead + kLatency);
  // A ring, in which each core reads what it reduces and writes what it sends.
  const Simulation ring = run(all_reduce_schedule("ring", 4), 4'000'000, fabric, {.slice_bytes = kWhole});
  EXPECT_NEAR(static_cast<double>(ring.critical.transfer_ps + ring.critical.local_ps), 6 * 200 * kUs, kUs);
  EXPECT_THAT(ring.critical.bottleneck, HasSubstr("core of rank"));
  // Parts of the critical path, where cores take what they receive.
  for (const Sharing sharing : {Sharing::MaxMin, Sharing::Queue}) {
    for (const Algorithm* algorithm : all_algorithms()) {
      if (!algorithm->unsupported(flat_group(4), {.collective = algorithm->collective, .count = 1024}).empty())
        continue;
      for (const std::uint64_t bytes : {0ULL, 1ULL, 100'000ULL, 1ULL << 22}) {
        const Simulation one = run(build_schedule(*algorithm, flat_group(4)), bytes, fabric, {.sharing = sharing});
        EXPECT_EQ(one.critical.latency_ps + one.critical.transfer_ps + one.critical.local_ps, one.makespan_ps)
            << algorithm->name << " " << bytes;
      }
    }
  }
}

TEST(Simulate, RanksThatOutnumberTheCoresShareThem) {
  topology::Graph graph;
  topology::Node node;
  node.kind = topology::NodeKind::Machine;
  node.name = "host0";
  node.cores = 2;
  node.loopback_gbs = 10;
  node.loopback_us = 0.1;
  graph.add(node);
  Fabric apart = fabric_of(graph, {0, 0});
  Fabric shared = fabric_of(graph, {0, 0, 0, 0});
  const Simulation two = run(all_reduce_schedule("direct", 2), 1'000'000, apart, {.slice_bytes = kWhole});
  const Simulation four = run(all_reduce_schedule("direct", 4), 1'000'000, shared, {.slice_bytes = kWhole});
  EXPECT_EQ(two.resources.size(), 2U);
  ASSERT_EQ(four.resources.size(), 2U);
  EXPECT_EQ(std::min(four.resources[0].name, four.resources[1].name), "core of ranks 0, 2");
  EXPECT_GT(four.makespan_ps, 5 * two.makespan_ps);  // three times the messages for each rank, two ranks on each core
}

TEST(Simulate, RefusesWhatCannotRun) {
  Fabric fabric = fabric_of(uniform_switch(2), first_gpus(2));
  Schedule schedule = one_message();
  const auto message = [&](const Schedule& wrong) {
    const Result<Simulation> result = simulate(wrong, 8, DataType::UInt8, fabric);
    return result ? std::string("simulated") : std::string(result.error().message());
  };
  Schedule lost = schedule;
  lost.ranks[1].channels[0].clear();
  EXPECT_THAT(message(lost), HasSubstr("rank 0, channel 0, step 0: the message that it sends is never received"));
  Schedule unsent = schedule;
  unsent.ranks[0].channels[0].clear();
  EXPECT_THAT(message(unsent), HasSubstr("rank 1, channel 0, step 0: the message that it receives is never sent"));
  Schedule stranger = schedule;
  stranger.ranks[0].channels[0][0].peer = 7;
  EXPECT_THAT(message(stranger), HasSubstr("there is no rank 7"));
  Schedule memory = schedule;
  memory.ranks[0].channels[0][0].src.count = 2;
  EXPECT_THAT(message(memory), HasSubstr("memory that the rank does not have"));
  // Each receives before it sends.
  Schedule hangs = schedule;
  hangs.ranks[0].channels = {{schedule.ranks[1].channels[0][0], schedule.ranks[0].channels[0][0]}};
  hangs.ranks[0].channels[0][0].peer = 1;
  hangs.ranks[1].channels = hangs.ranks[0].channels;
  for (Step& step : hangs.ranks[1].channels[0]) {
    step.peer = 0;
    if (step.kind == StepKind::Send) step.src.space = Space::Output;
  }
  EXPECT_THAT(message(hangs), HasSubstr("hangs: rank 0 waits in channel 0 at step 0 for a message from rank 1"));
  Fabric three = fabric_of(uniform_switch(3), first_gpus(3));
  EXPECT_FALSE(simulate(schedule, 8, DataType::UInt8, three).has_value());
}

TEST(Simulate, RanksWithoutAPathAreAnError) {
  topology::Graph graph = uniform_switch(2);
  graph.links.pop_back();
  Fabric fabric = fabric_of(graph, first_gpus(2));
  const Result<Simulation> result = simulate(one_message(), 8, DataType::UInt8, fabric);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(std::string(result.error().message()), HasSubstr("has no path to rank 1"));
}

TEST(Flows, ProgressiveFillingGivesTheNarrowLinkToItsFlowsAndTheRestToTheOthers) {
  // Resource 0 carries 10 bytes/us for flows 0 and 1; resource 1 carries 100 for flows 1 and 2: rates 5, 5, 95.
  std::unique_ptr<Flows> flows = make_flows(Sharing::MaxMin, {10, 100}, 3);
  const std::vector<int> narrow = {0};
  const std::vector<int> both = {0, 1};
  const std::vector<int> wide = {1};
  flows->start(0, narrow, 500, 500, 0);
  flows->start(1, both, 500, 500, 0);
  flows->start(2, wide, 9500, 9500, 0);
  Milestone milestone;
  std::vector<std::pair<int, std::int64_t>> ends;
  while (flows->next(1'000'000'000, &milestone)) ends.emplace_back(milestone.flow, milestone.time_ps);
  EXPECT_EQ(ends, (std::vector<std::pair<int, std::int64_t>>{{0, 100 * kUs}, {1, 100 * kUs}, {2, 100 * kUs}}));
  EXPECT_EQ(flows->binding_resource(1), 0);
  EXPECT_EQ(flows->binding_resource(2), 1);
  EXPECT_EQ(flows->busy_ps(0), 100 * kUs);
}

TEST(Flows, AFlowSpeedsUpWhenItsNeighbourEnds) {
  std::unique_ptr<Flows> flows = make_flows(Sharing::MaxMin, {10}, 2);
  const std::vector<int> link = {0};
  flows->start(0, link, 100, 100, 0);
  flows->start(1, link, 200, 50, 0);
  Milestone milestone;
  std::vector<std::tuple<int, bool, std::int64_t>> seen;
  while (flows->next(1'000'000'000, &milestone)) seen.emplace_back(milestone.flow, milestone.last, milestone.time_ps);
  EXPECT_EQ(seen, (std::vector<std::tuple<int, bool, std::int64_t>>{
                      {1, false, 10 * kUs}, {0, true, 20 * kUs}, {1, true, 30 * kUs}}));
}

TEST(Flows, QueueServesInOrderAndCountsBusyTime) {
  std::unique_ptr<Flows> flows = make_flows(Sharing::Queue, {10}, 2);
  const std::vector<int> link = {0};
  flows->start(0, link, 100, 100, 0);
  flows->start(1, link, 200, 50, 0);
  Milestone milestone;
  std::vector<std::tuple<int, bool, std::int64_t>> seen;
  while (flows->next(1'000'000'000, &milestone)) seen.emplace_back(milestone.flow, milestone.last, milestone.time_ps);
  EXPECT_EQ(seen, (std::vector<std::tuple<int, bool, std::int64_t>>{
                      {0, true, 10 * kUs}, {1, false, 15 * kUs}, {1, true, 30 * kUs}}));
  EXPECT_EQ(flows->busy_ps(0), 30 * kUs);
}

}  // namespace
}  // namespace weft::algorithms
