// The engine by itself: schedules bound and run on threads over local lanes, without a communicator.
#include "comm/engine.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "comm/call_code.hpp"
#include "tests/comm/support/exact_values.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "transports/local.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

using testing::Buffer;

// One rank's engine and its lanes to the others.
class Rig final : public LaneDirectory {
 public:
  Rig(transports::Transport& transport, int rank, int size, std::size_t slice) : slice_(slice) {
    for (int peer = 0; peer < size; ++peer) {
      connections_.push_back(nullptr);
      if (peer == rank) continue;
      auto connection = transport.connect(rank, peer, transport.address(), 1000);
      if (connection.has_value()) connections_.back() = std::move(*connection);
    }
  }

  std::uint16_t lane(int peer, int channel) override {
    const auto [entry, added] = lanes_.try_emplace({peer, channel}, kNoLane);
    if (added) {
      auto endpoint = connections_[static_cast<std::size_t>(peer)]->open_lane(static_cast<std::uint64_t>(channel));
      entry->second = engine.add_lane(std::move(*endpoint), peer, slice_);
    }
    return entry->second;
  }
  std::uint32_t slices(std::uint16_t lane, std::uint64_t bytes) const override {
    return engine.lane(lane).slices(bytes);
  }

  Engine engine;

 private:
  std::size_t slice_;
  std::vector<std::unique_ptr<transports::Connection>> connections_;
  std::map<std::pair<int, int>, std::uint16_t> lanes_;
};

struct Cut {
  std::size_t slice = 4096;       // bytes of a message
  std::uint64_t chunk_bytes = 0;  // of a pass; 0: one pass
  bool streaming = false;
  bool in_place = false;  // where input and output are then one buffer
};

Group two_hosts(int size) {
  Group group = flat_group(size);
  const std::vector<int> ranks = group.hosts.front();
  const auto middle = ranks.begin() + static_cast<std::ptrdiff_t>((ranks.size() + 1) / 2);
  group.hosts = {{ranks.begin(), middle}, {middle, ranks.end()}};
  return group;
}

// In place the whole of it is input and output.
bool one_buffer(Collective collective) {
  return collective == Collective::AllReduce || collective == Collective::AllToAll;
}

// Runs the algorithm once on `size` threads; returns what differs, or an empty text.
std::string run_once(const Algorithm& algorithm, int size, const BuildOptions& build, Operation operation,
                     const Cut& cut) {
  const auto hub = transports::LocalHub::create();
  std::vector<std::string> wrong(static_cast<std::size_t>(size));
  std::vector<std::unique_ptr<transports::Transport>> transports;
  for (int rank = 0; rank < size; ++rank) transports.push_back(hub->transport(rank));
  std::atomic<int> running{size};
  testing::run_ranks(size, [&](int rank) {
    Rig rig(*transports[static_cast<std::size_t>(rank)], rank, size, cut.slice);
    BoundPlan plan = bind(build_schedule(algorithm, two_hosts(size), build), rank, operation, rig,
                          {build.replicas, cut.chunk_bytes});
    plan.streaming = cut.streaming;
    plan.parameter = size;
    plan.reduce = reduce_kernel(operation.dtype, operation.op, false);
    plan.reduce_final = reduce_kernel(operation.dtype, operation.op, true);
    std::string& complaint = wrong[static_cast<std::size_t>(rank)];
    if (!rig.engine.prepare(plan).ok()) complaint = "no memory";
    const Buffer in = testing::input_of(operation, rank, size);
    Buffer out(output_count(operation, rank, size) * size_of(operation.dtype));
    ActiveOperation active;
    active.plan = &plan;
    const bool shares = cut.in_place && one_buffer(operation.collective);
    if (shares) out = in;
    active.in = shares ? out.data() : in.data();
    active.out = out.data();
    active.signature = {1, call_code(operation), 7};
    rig.engine.start(active);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (active.channels_left > 0 && complaint.empty()) {
      if (!rig.engine.advance()) std::this_thread::yield();
      if (std::chrono::steady_clock::now() > deadline) complaint = "did not finish";
    }
    if (complaint.empty())
      complaint = testing::first_difference(operation, out, testing::expected_of(operation, rank, size));
    // Peers may still read what this rank's lanes hold.
    --running;
    while (running > 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
  for (int rank = 0; rank < size; ++rank) {
    if (!wrong[static_cast<std::size_t>(rank)].empty())
      return "rank " + std::to_string(rank) + ": " + wrong[static_cast<std::size_t>(rank)];
  }
  return {};
}

TEST(Engine, ring_all_reduce_of_four_ranks_sums_what_they_have) {
  const Algorithm* ring = find_algorithm(Collective::AllReduce, "ring");
  ASSERT_NE(ring, nullptr);
  for (const std::uint64_t count : {0, 1, 3, 4, 1000, 100003}) {
    EXPECT_EQ(run_once(*ring, 4, {}, all_reduce(nullptr, nullptr, count, DataType::Float32), {}), "")
        << count << " elements";
  }
}

TEST(Engine, channels_run_side_by_side) {
  const Algorithm* ring = find_algorithm(Collective::AllReduce, "ring");
  ASSERT_NE(ring, nullptr);
  EXPECT_EQ(run_once(*ring, 3, {.replicas = 4}, all_reduce(nullptr, nullptr, 100003, DataType::Int32), {}), "");
}

TEST(Engine, messages_longer_than_a_slice_are_cut_and_fused_steps_forward_them) {
  const Algorithm* ring = find_algorithm(Collective::AllReduce, "ring");
  ASSERT_NE(ring, nullptr);
  for (const std::size_t slice : {8, 64, 1000, 65536}) {
    EXPECT_EQ(run_once(*ring, 5, {}, all_reduce(nullptr, nullptr, 5003, DataType::Float64), {.slice = slice}), "")
        << slice << " bytes a slice";
  }
}

TEST(Engine, a_one_shot_all_reduce_is_right_for_every_type) {
  const Algorithm* direct = find_algorithm(Collective::AllReduce, "direct");
  ASSERT_NE(direct, nullptr);
  for (int dtype = 0; dtype < kDataTypes; ++dtype) {
    EXPECT_EQ(run_once(*direct, 3, {}, all_reduce(nullptr, nullptr, 77, static_cast<DataType>(dtype)), {}), "")
        << to_string(static_cast<DataType>(dtype));
  }
}

Operation operation_of(Collective collective, std::uint64_t count) {
  Operation operation;
  operation.collective = collective;
  operation.count = collective == Collective::Barrier ? 0 : count;
  operation.dtype = DataType::Int32;
  return operation;
}

// Counts that leave a last pass of any length, empty chunks among them.
TEST(Engine, every_algorithm_is_right_in_several_passes) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const int size : {2, 3, 5}) {
      const std::uint64_t count = 200 + static_cast<std::uint64_t>(size) * 7;
      const Operation operation = operation_of(algorithm->collective, count);
      for (const int replicas : {1, 3}) {
        if (replicas > 1 && !algorithm->replicable) continue;
        for (const std::uint64_t chunk_bytes : {20, 256}) {
          for (const bool in_place : {false, true}) {
            const bool shares = in_place && one_buffer(algorithm->collective);
            if (in_place && !shares) continue;
            BuildOptions build = {.replicas = replicas, .in_place = shares, .uneven = true};
            build.canonical = chunk_bytes == 20;
            const Cut cut = {.slice = 128, .chunk_bytes = chunk_bytes, .in_place = in_place};
            EXPECT_EQ(run_once(*algorithm, size, build, operation, cut), "")
                << to_string(algorithm->collective) << '/' << algorithm->name << " of " << size << " ranks, "
                << replicas << " replicas, chunks of " << chunk_bytes << " bytes" << (in_place ? " in place" : "");
          }
        }
      }
    }
  }
}

TEST(Engine, a_long_call_is_in_passes_and_a_short_one_is_not) {
  const auto hub = transports::LocalHub::create();
  const auto transport = hub->transport(0);
  const auto peer = hub->transport(1);
  Rig rig(*transport, 0, 2, 4096);
  const Algorithm& direct = *find_algorithm(Collective::AllReduce, "direct");
  const auto bound = [&](std::uint64_t count) {
    return bind(build_schedule(direct, flat_group(2), {.uneven = true}), 0, all_reduce(count, DataType::Float32), rig,
                {1, 4096})
        .channels.front();
  };
  EXPECT_EQ(bound(1024).passes, 1U);
  EXPECT_EQ(bound(1025).passes, 2U);
  const BoundChannel several = bound(2500);
  EXPECT_EQ(several.passes, 3U);
  EXPECT_EQ(several.pass_bytes % 64, 0U);
  EXPECT_EQ(several.instructions.size(), several.last_instructions.size());
  EXPECT_EQ(several.pass_bytes * 2 + several.last_instructions.front().bytes, 10000U);
}

TEST(Engine, what_is_written_past_the_caches_is_the_same) {
  for (const char* name : {"direct", "direct_two_shot", "ring", "recursive_doubling"}) {
    const Algorithm* algorithm = find_algorithm(Collective::AllReduce, name);
    ASSERT_NE(algorithm, nullptr);
    for (const std::uint64_t count : {1, 5, 999, 100003})
      EXPECT_EQ(run_once(*algorithm, 3, {.replicas = 2, .uneven = true},
                         all_reduce(nullptr, nullptr, count, DataType::Float16),
                         {.slice = 65536, .chunk_bytes = 16384, .streaming = true}),
                "")
          << name << ' ' << count;
  }
}

// A lane's shared slots, as its rank's plans asked for them.
transports::FanOut* shared_slots(Rig& rig, int peer) { return rig.engine.lane(rig.lane(peer, 0)).fan_out(); }

TEST(Engine, only_lanes_of_plans_that_send_the_same_to_several_peers_have_slots_to_share) {
  const auto hub = transports::LocalHub::create();
  const auto transport = hub->transport(0);
  Rig rig(*transport, 0, 3, 4096);
  const auto prepare = [&](const char* algorithm) {
    const Schedule schedule = build_schedule(*find_algorithm(Collective::AllGather, algorithm), flat_group(3), {});
    return rig.engine.prepare(bind(schedule, 0, all_gather(nullptr, nullptr, 1000, DataType::Float32), rig));
  };
  ASSERT_TRUE(prepare("ring").ok());
  for (const int peer : {1, 2}) EXPECT_EQ(shared_slots(rig, peer), nullptr) << "peer " << peer;
  ASSERT_TRUE(prepare("direct").ok());
  EXPECT_NE(shared_slots(rig, 1), nullptr);
  EXPECT_EQ(shared_slots(rig, 1), shared_slots(rig, 2));
}

// Each engine ends as soon as its own rank is done: the peers may not have read what it sent last.
TEST(Engine, the_last_of_two_hundred_engines_in_turn_has_slots_to_share_like_the_first) {
  constexpr int kRanks = 3;
  constexpr int kEngines = 200;
  const auto hub = transports::LocalHub::create();
  std::vector<std::unique_ptr<transports::Transport>> transports;
  for (int rank = 0; rank < kRanks; ++rank) transports.push_back(hub->transport(rank));
  const Schedule schedule = build_schedule(*find_algorithm(Collective::AllGather, "direct"), flat_group(kRanks), {});
  const Operation operation = all_gather(nullptr, nullptr, 1000, DataType::Float32);
  std::vector<std::string> wrong(kRanks);
  testing::run_ranks(kRanks, [&](int rank) {
    std::string& complaint = wrong[static_cast<std::size_t>(rank)];
    for (int round = 0; round < kEngines && complaint.empty(); ++round) {
      Rig rig(*transports[static_cast<std::size_t>(rank)], rank, kRanks, 4096);
      BoundPlan plan = bind(schedule, rank, operation, rig);
      const int peer = (rank + 1) % kRanks;
      if (!rig.engine.prepare(plan).ok() || shared_slots(rig, peer) == nullptr)
        complaint = "no slots to share in round " + std::to_string(round);
      const Buffer in = testing::input_of(operation, rank, kRanks);
      Buffer out(output_count(operation, rank, kRanks) * size_of(operation.dtype));
      ActiveOperation active;
      active.plan = &plan;
      active.in = in.data();
      active.out = out.data();
      active.signature = {static_cast<std::uint32_t>(round + 1), call_code(operation), 7};
      rig.engine.start(active);
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (active.channels_left > 0 && complaint.empty()) {
        if (!rig.engine.advance()) std::this_thread::yield();
        if (std::chrono::steady_clock::now() > deadline) complaint = "did not finish";
      }
      if (complaint.empty())
        complaint = testing::first_difference(operation, out, testing::expected_of(operation, rank, kRanks));
    }
  });
  for (const std::string& complaint : wrong) EXPECT_EQ(complaint, "");
}

// An end that takes all the time it is given to be cancelled.
class SlowToCancel final : public transports::Endpoint {
 public:
  bool send(const void*, std::size_t, const transports::Signature&) override { return false; }
  const void* receive(std::size_t, void*, const transports::Signature&) override { return nullptr; }
  void release() override {}
  std::uint64_t sends_done() override { return 0; }
  bool unexpected(transports::Unexpected*) override { return false; }
  bool peek(transports::Unexpected*) override { return false; }
  Status failure() override { return {}; }
  void cancel(int deadline_ms) override { std::this_thread::sleep_for(std::chrono::milliseconds(deadline_ms)); }
};

TEST(Engine, all_lanes_together_have_one_deadline_to_be_cancelled) {
  Engine engine;
  for (int peer = 1; peer <= 20; ++peer) engine.add_lane(std::make_unique<SlowToCancel>(), peer, 4096);
  const auto begin = std::chrono::steady_clock::now();
  engine.cancel(50);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20 * 50));
}

TEST(Engine, scratch_that_instructions_cannot_name_is_an_error) {
  Engine engine;
  BoundPlan plan;
  plan.channels.resize(1);
  plan.channels[0].scratch_bytes = kMaxScratch + 1;
  EXPECT_EQ(engine.prepare(plan).code(), Code::ResourceExhausted);
}

}  // namespace
}  // namespace weft::comm
