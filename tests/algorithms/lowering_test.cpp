// What moves become: small schedules step by step, as facts.
#include <gtest/gtest.h>

#include <algorithm>

#include "weft/schedule_builder.hpp"

namespace weft {

// Steps print as their fields, so that a failed comparison says which differs.
static void PrintTo(const Step& step, std::ostream* out) {
  const auto span = [&](const char* name, const Span& s) {
    if (s.space != Space::None)
      *out << ' ' << name << ' ' << to_string(s.space) << s.slot << '[' << s.first << '+' << s.count << ']';
  };
  *out << to_string(step.kind) << " peer " << step.peer << " to " << step.to << " wait " << step.wait;
  span("dst", step.dst);
  span("src", step.src);
  span("src2", step.src2);
  span("landing", step.landing);
  if (step.final_reduction) *out << " final";
}

namespace algorithms {
namespace {

using Steps = std::vector<Step>;

Span in(int first, int count = 1) { return {Space::Input, 0, first, count}; }
Span out(int first, int count = 1) { return {Space::Output, 0, first, count}; }
Span scratch(int slot, int first = 0, int count = 1) { return {Space::Scratch, slot, first, count}; }

Schedule schedule_of(Collective collective, std::string_view name, int size, BuildOptions options = {}) {
  const Algorithm* algorithm = find_algorithm(collective, name);
  EXPECT_NE(algorithm, nullptr) << name;
  return build_schedule(*algorithm, flat_group(size), options);
}

const Steps& steps_of(const Schedule& schedule, int rank, int channel = 0) {
  return schedule.ranks[static_cast<std::size_t>(rank)].channels[static_cast<std::size_t>(channel)];
}

TEST(Lowering, direct_of_two_ranks_is_send_then_recv_reduce) {
  const Schedule schedule = schedule_of(Collective::AllReduce, "direct", 2);
  EXPECT_EQ(steps_of(schedule, 0), (Steps{{.kind = StepKind::Send, .peer = 1, .src = in(0)},
                                          {.kind = StepKind::RecvReduce,
                                           .final_reduction = true,
                                           .peer = 1,
                                           .dst = out(0),
                                           .src = in(0),
                                           .landing = scratch(0)}}));
}

TEST(Lowering, direct_of_two_ranks_in_place_takes_the_message_then_waits_then_writes) {
  const Schedule schedule = schedule_of(Collective::AllReduce, "direct", 2, {.in_place = true});
  EXPECT_EQ(steps_of(schedule, 1), (Steps{{.kind = StepKind::Send, .peer = 0, .src = out(0)},
                                          {.kind = StepKind::RecvReduce,
                                           .final_reduction = true,
                                           .peer = 0,
                                           .wait = 0,
                                           .dst = out(0),
                                           .src = out(0),
                                           .landing = scratch(0)}}));
}

TEST(Lowering, direct_of_three_ranks_in_place_takes_both_messages_before_it_waits_for_both_sends) {
  const Schedule schedule = schedule_of(Collective::AllReduce, "direct", 3, {.in_place = true});
  EXPECT_EQ(
      steps_of(schedule, 0),
      (Steps{
          {.kind = StepKind::Send, .peer = 1, .src = out(0)},
          {.kind = StepKind::Send, .peer = 2, .src = out(0)},
          {.kind = StepKind::RecvReduce, .peer = 1, .dst = scratch(1), .src = out(0), .landing = scratch(0)},
          {.kind = StepKind::Recv, .peer = 2, .dst = scratch(2)},
          {.kind = StepKind::Wait, .wait = 0},
          {.kind = StepKind::Wait, .wait = 1},
          {.kind = StepKind::Reduce, .final_reduction = true, .dst = out(0), .src = scratch(1), .src2 = scratch(2)}}));
}

TEST(Lowering, ring_of_three_ranks_relays_every_message_but_the_last) {
  const Schedule schedule = schedule_of(Collective::AllReduce, "ring", 3);
  EXPECT_EQ(
      steps_of(schedule, 0),
      (Steps{{.kind = StepKind::Send, .peer = 1, .src = in(0)},
             {.kind = StepKind::RecvReduceSend, .peer = 2, .to = 1, .dst = out(2), .src = in(2), .landing = scratch(0)},
             {.kind = StepKind::RecvReduceSend,
              .final_reduction = true,
              .peer = 2,
              .to = 1,
              .dst = out(1),
              .src = in(1),
              .landing = scratch(0)},
             {.kind = StepKind::RecvSend, .peer = 2, .to = 1, .dst = out(0)},
             {.kind = StepKind::Recv, .peer = 2, .wait = 1, .dst = out(2), .landing = scratch(0)}}));
}

TEST(Lowering, ring_all_reduce_needs_one_chunk_of_scratch_per_channel) {
  for (const bool in_place : {false, true}) {
    const Schedule schedule = schedule_of(Collective::AllReduce, "ring", 16, {.replicas = 2, .in_place = in_place});
    for (const RankProgram& program : schedule.ranks) {
      EXPECT_EQ(program.scratch.size(), 2U);
      for (const ScratchSlot& slot : program.scratch) EXPECT_EQ(slot.chunks.size(), 1U);
    }
  }
}

TEST(Lowering, ring_reduce_scatter_keeps_three_chunks_of_scratch_however_many_ranks) {
  const Schedule schedule = schedule_of(Collective::ReduceScatter, "ring", 64);
  for (const RankProgram& program : schedule.ranks) EXPECT_EQ(program.scratch.size(), 3U);
}

TEST(Lowering, own_block_of_all_gather_is_copied_while_the_first_messages_travel) {
  const Schedule schedule = schedule_of(Collective::AllGather, "direct", 3);
  EXPECT_EQ(steps_of(schedule, 1), (Steps{{.kind = StepKind::Send, .peer = 2, .src = in(0)},
                                          {.kind = StepKind::Send, .peer = 0, .src = in(0)},
                                          {.kind = StepKind::Copy, .dst = out(1), .src = in(0)},
                                          {.kind = StepKind::Recv, .peer = 0, .dst = out(0)},
                                          {.kind = StepKind::Recv, .peer = 2, .dst = out(2)}}));
}

TEST(Lowering, own_block_of_all_gather_stays_where_it_is_in_place) {
  const Schedule schedule = schedule_of(Collective::AllGather, "ring", 4, {.in_place = true});
  for (int rank = 0; rank < 4; ++rank)
    for (const Step& step : steps_of(schedule, rank)) EXPECT_NE(step.kind, StepKind::Copy);
}

TEST(Lowering, all_to_all_in_place_keeps_what_came_until_its_place_was_sent) {
  // Rank 0 of 3: what comes from rank 2 in the first step belongs where the block for rank 2 lies, which leaves in the
  // second.
  const Schedule schedule = schedule_of(Collective::AllToAll, "pairwise", 3, {.in_place = true});
  EXPECT_EQ(steps_of(schedule, 0),
            (Steps{{.kind = StepKind::Send, .peer = 1, .src = in(1)},
                   {.kind = StepKind::Send, .peer = 2, .src = in(2)},
                   {.kind = StepKind::Recv, .peer = 2, .dst = scratch(0)},
                   {.kind = StepKind::Recv, .peer = 1, .wait = 0, .dst = out(1), .landing = scratch(1)},
                   {.kind = StepKind::Wait, .wait = 1},
                   {.kind = StepKind::Copy, .dst = out(2), .src = scratch(0)}}));
}

TEST(Lowering, gather_packs_only_its_own_block) {
  // Rank 4 of 8 collects blocks 5 and 6, 7 straight into the message that it will send.
  const Schedule schedule = schedule_of(Collective::Gather, "binomial", 8);
  EXPECT_EQ(steps_of(schedule, 4), (Steps{{.kind = StepKind::Recv, .peer = 5, .dst = scratch(0, 1)},
                                          {.kind = StepKind::Recv, .peer = 6, .dst = scratch(0, 2, 2)},
                                          {.kind = StepKind::Copy, .dst = scratch(0, 0), .src = in(0)},
                                          {.kind = StepKind::Send, .peer = 0, .src = scratch(0, 0, 4)}}));
  EXPECT_EQ(schedule.ranks[4].scratch, (std::vector<ScratchSlot>{{{4, 5, 6, 7}}}));
}

TEST(Lowering, replicas_own_contiguous_parts_of_each_block_and_channels_of_their_own) {
  const Schedule schedule = schedule_of(Collective::AllGather, "direct", 2, {.replicas = 3});
  EXPECT_EQ(schedule.chunks_per_block, 3);
  EXPECT_EQ(schedule.channels, 3);
  for (int channel = 0; channel < 3; ++channel) {
    EXPECT_EQ(steps_of(schedule, 0, channel), (Steps{{.kind = StepKind::Send, .peer = 1, .src = in(channel)},
                                                     {.kind = StepKind::Copy, .dst = out(channel), .src = in(channel)},
                                                     {.kind = StepKind::Recv, .peer = 1, .dst = out(3 + channel)}}));
  }
}

TEST(Lowering, one_rank_copies_input_to_output_or_does_nothing_in_place) {
  for (const Algorithm* algorithm : all_algorithms()) {
    const bool barrier = algorithm->collective == Collective::Barrier;
    const Schedule apart = build_schedule(*algorithm, flat_group(1));
    std::size_t steps = 0;
    for (const Steps& channel : apart.ranks[0].channels) {
      steps += channel.size();
      for (const Step& step : channel) EXPECT_EQ(step.kind, StepKind::Copy) << algorithm->name;
    }
    EXPECT_EQ(steps == 0, barrier) << to_string(algorithm->collective) << '/' << algorithm->name;
    const Schedule together = build_schedule(*algorithm, flat_group(1), {.in_place = true});
    for (const Steps& channel : together.ranks[0].channels) EXPECT_TRUE(channel.empty()) << algorithm->name;
  }
}

TEST(Lowering, barrier_moves_empty_messages_in_ceil_log2_rounds) {
  const Schedule schedule = schedule_of(Collective::Barrier, "dissemination", 5);
  for (int rank = 0; rank < 5; ++rank) {
    const Steps& steps = steps_of(schedule, rank);
    EXPECT_EQ(std::count_if(steps.begin(), steps.end(), [](const Step& step) { return step.peer >= 0; }), 4);
  }
  const Layout layout = layout_of(schedule);
  EXPECT_EQ(layout.chunks(), 1);
}

TEST(Lowering, without_hoisting_sends_stay_where_the_algorithm_has_them) {
  const auto position_of_last_send = [](const Schedule& schedule) {
    const Steps& steps = steps_of(schedule, 2);
    std::size_t last = 0;
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i].kind == StepKind::Send) last = i;
    return last;
  };
  const Schedule hoisted = schedule_of(Collective::AllToAll, "pairwise", 6);
  const Schedule plain = schedule_of(Collective::AllToAll, "pairwise", 6, {.hoist_sends = false});
  EXPECT_EQ(position_of_last_send(hoisted), 4U);
  EXPECT_GT(position_of_last_send(plain), 4U);
}

TEST(Lowering, without_fusing_there_are_plain_steps_only) {
  const Schedule schedule = schedule_of(Collective::AllReduce, "ring", 4, {.fuse = false});
  for (int rank = 0; rank < 4; ++rank)
    for (const Step& step : steps_of(schedule, rank))
      EXPECT_TRUE(step.kind == StepKind::Send || step.kind == StepKind::Recv || step.kind == StepKind::Reduce ||
                  step.kind == StepKind::Wait || step.kind == StepKind::Copy);
}

}  // namespace
}  // namespace algorithms
}  // namespace weft
