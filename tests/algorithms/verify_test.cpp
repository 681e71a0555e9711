// Each rule that verify enforces, broken once by hand: it must say who, where and what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "algorithms/machine.hpp"
#include "algorithms/verify.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Schedule direct_of_two(bool in_place = false) {
  return build_schedule(*find_algorithm(Collective::AllReduce, "direct"), flat_group(2), {.in_place = in_place});
}
Schedule ring_of(int size) { return build_schedule(*find_algorithm(Collective::AllReduce, "ring"), flat_group(size)); }
std::vector<Step>& steps(Schedule& schedule, int rank) {
  return schedule.ranks[static_cast<std::size_t>(rank)].channels[0];
}
std::string refusal(const Schedule& schedule) {
  const Status status = verify(schedule);
  EXPECT_EQ(status.code(), Code::Corrupt) << status.to_string();
  return std::string(status.message());
}

TEST(Verify, accepts_what_the_builder_makes) {
  EXPECT_TRUE(verify(direct_of_two()).ok());
  EXPECT_TRUE(verify(direct_of_two(true)).ok());
}

TEST(Verify, names_rank_channel_and_step_of_a_write_under_an_unfinished_send) {
  Schedule schedule = direct_of_two(true);
  steps(schedule, 1)[1].wait = -1;
  EXPECT_THAT(refusal(schedule),
              HasSubstr("rank 1, channel 0, step 1 (RecvReduce from rank 0) writes dst chunk 0 while the send "
                        "of step 0 may still read it"));
}

TEST(Verify, a_wait_for_a_later_send_of_the_lane_covers_the_earlier_ones) {
  Schedule schedule = build_schedule(*find_algorithm(Collective::Broadcast, "chain"), flat_group(2));
  // Rank 0 sends all its chunks to rank 1, then may overwrite the first once the last was waited for.
  auto& root = steps(schedule, 0);
  root.push_back({.kind = StepKind::Wait, .wait = 7});
  EXPECT_TRUE(verify(schedule).ok());
}

TEST(Verify, finds_ranks_that_wait_for_each_other_under_rendezvous_only) {
  // Both wait for their send before they take the message.
  Schedule schedule = direct_of_two(true);
  for (const int rank : {0, 1}) {
    auto& list = steps(schedule, rank);
    list[1].wait = -1;
    list.insert(list.begin() + 1, {.kind = StepKind::Wait, .wait = 0});
  }
  EXPECT_THAT(refusal(schedule), HasSubstr("rank 0, channel 0, step 1 (Wait) waits for ever for its send"));
  EXPECT_TRUE(verify(schedule, {{SendModel::buffered(1)}}).ok());
  EXPECT_TRUE(verify(schedule, {{SendModel::unbounded()}}).ok());
}

TEST(Verify, finds_a_message_that_never_comes) {
  Schedule schedule = ring_of(3);
  steps(schedule, 2).erase(steps(schedule, 2).begin());
  for (Step& step : steps(schedule, 2)) step.wait = step.wait > 0 ? step.wait - 1 : -1;
  EXPECT_FALSE(verify(schedule).ok());
}

TEST(Verify, finds_a_message_that_nobody_takes) {
  Schedule schedule = direct_of_two();
  steps(schedule, 0).push_back(steps(schedule, 0)[0]);
  EXPECT_THAT(refusal(schedule),
              HasSubstr("rank 0, channel 0, step 2 (Send to rank 1) sends in vain: 1 messages from rank 0 to rank "
                        "1 are never received"));
}

TEST(Verify, finds_a_contribution_that_counts_twice) {
  Schedule schedule = direct_of_two();
  Span& src = steps(schedule, 0)[1].src;
  auto& list = steps(schedule, 0);
  list.push_back(
      {.kind = StepKind::Reduce, .dst = {Space::Output, 0, 0, 1}, .src = {Space::Output, 0, 0, 1}, .src2 = src});
  EXPECT_THAT(refusal(schedule), HasSubstr("rank 0: output chunk 0 must hold chunk 0 of every rank once, and holds"));
}

TEST(Verify, finds_an_output_that_is_another_chunk) {
  Schedule schedule = build_schedule(*find_algorithm(Collective::AllGather, "direct"), flat_group(3));
  auto& list = steps(schedule, 0);
  for (Step& step : list)
    if (step.kind == StepKind::Recv) step.dst.first = 3 - step.dst.first;
  EXPECT_THAT(refusal(schedule),
              HasSubstr("rank 0: output chunk 1 must be rank 1's chunk 1, and holds chunk 2 of ranks 2"));
}

TEST(Verify, finds_an_output_that_nothing_wrote) {
  Schedule schedule = build_schedule(*find_algorithm(Collective::AllGather, "direct"), flat_group(2));
  auto& list = steps(schedule, 1);
  std::erase_if(list, [](const Step& step) { return step.kind == StepKind::Copy; });
  EXPECT_THAT(refusal(schedule), HasSubstr("rank 1: output chunk 1 was not written"));
}

TEST(Verify, finds_a_missing_and_a_repeated_final_reduction) {
  Schedule schedule = direct_of_two();
  steps(schedule, 0)[1].final_reduction = false;
  EXPECT_THAT(refusal(schedule), HasSubstr("final reduction"));
  schedule = ring_of(3);
  for (Step& step : steps(schedule, 0)) step.final_reduction = step.src != Span() && receives(step.kind);
  EXPECT_THAT(refusal(schedule), HasSubstr("final reduction"));
}

TEST(Verify, finds_ranks_that_reduce_by_different_trees) {
  // Rank 0 adds rank 2's value first: the same sum, other roundings.
  Schedule schedule = build_schedule(*find_algorithm(Collective::AllReduce, "direct"), flat_group(3));
  auto& list = steps(schedule, 0);
  std::swap(list[2].peer, list[3].peer);
  EXPECT_THAT(refusal(schedule), HasSubstr("was reduced by another tree than on rank 0"));
}

TEST(Verify, finds_a_read_of_scratch_that_nothing_wrote) {
  Schedule schedule = direct_of_two();
  steps(schedule, 0)[0].src = {Space::Scratch, 0, 0, 1};
  EXPECT_THAT(refusal(schedule),
              HasSubstr("rank 0, channel 0, step 0 (Send to rank 1) reads src chunk 0 that nothing wrote"));
}

TEST(Verify, treats_a_landing_as_overwritten) {
  Schedule schedule = direct_of_two();
  auto& list = steps(schedule, 0);
  list.insert(list.begin(), {.kind = StepKind::Copy, .dst = {Space::Scratch, 0, 0, 1}, .src = {Space::Input, 0, 0, 1}});
  list.back().src = {Space::Scratch, 0, 0, 1};
  EXPECT_THAT(refusal(schedule), HasSubstr("reads src chunk 0 that nothing wrote"));
}

TEST(Verify, finds_memory_that_two_channels_use) {
  Schedule schedule = build_schedule(*find_algorithm(Collective::AllReduce, "direct"), flat_group(2), {.replicas = 2});
  std::swap(schedule.ranks[0].channels[1][1].landing.slot, schedule.ranks[0].channels[0][1].landing.slot);
  EXPECT_TRUE(verify(schedule).ok());
  schedule.ranks[0].channels[1][1].landing.slot = schedule.ranks[0].channels[0][1].landing.slot;
  EXPECT_THAT(refusal(schedule), HasSubstr("belongs to channel"));
}

TEST(Verify, finds_ends_of_a_message_that_disagree_on_its_size) {
  Schedule schedule = build_schedule(*find_algorithm(Collective::Broadcast, "chain"), flat_group(2));
  std::swap(steps(schedule, 1)[0].dst, steps(schedule, 1)[1].dst);
  EXPECT_THAT(refusal(schedule), HasSubstr("expects a message of other chunks than rank 0, channel 0, step 0"));
}

TEST(Verify, wants_a_landing_wherever_the_message_may_have_to_wait) {
  Schedule schedule = direct_of_two(true);
  steps(schedule, 0)[1].landing = {};
  EXPECT_THAT(refusal(schedule), HasSubstr("reduces a message without a landing"));
  schedule = direct_of_two(true);
  steps(schedule, 0)[1].landing = {Space::Output, 0, 0, 1};
  EXPECT_THAT(refusal(schedule), HasSubstr("landing that is not scratch"));
  schedule = ring_of(3);
  schedule.ranks[0].scratch[0].chunks[0] = 0;  // chunk 0 may be smaller than chunk 2
  EXPECT_THAT(refusal(schedule), HasSubstr("landing that may be smaller than dst"));
}

TEST(Verify, wants_a_landing_to_begin_its_slot_and_to_be_no_longer_than_what_lands_of_uneven_blocks) {
  Schedule schedule = direct_of_two();
  schedule.ranks[0].scratch[0].chunks = {0, 0};
  EXPECT_TRUE(verify(schedule).ok());
  steps(schedule, 0)[1].landing.count = 2;
  EXPECT_TRUE(verify(schedule).ok());
  steps(schedule, 0)[1].landing = {Space::Scratch, 0, 1, 1};
  EXPECT_THAT(refusal(schedule), HasSubstr("rank 0, channel 0, step 1 (RecvReduce from rank 1) has a landing that does "
                                           "not begin its slot; give it a slot of its own"));
  schedule.uneven = true;
  steps(schedule, 0)[1].landing = {Space::Scratch, 0, 0, 2};
  EXPECT_THAT(refusal(schedule), HasSubstr("landing larger than dst, in a schedule for blocks of unequal lengths"));
}

// ---- fields that a step's kind does not have ----

struct Field {
  std::string name;
  std::function<void(Step&)> set;  // to what it could hold in a step that has it
};

std::vector<Field> fields_of_rank(const Schedule& schedule, int rank) {
  const int other = (rank + 1) % schedule.size;
  const Span out{Space::Output, 0, 0, 1};
  const Span scratch{Space::Scratch, 0, 0, 1};
  return {{"peer", [=](Step& step) { step.peer = other; }},
          {"to", [=](Step& step) { step.to = other; }},
          {"wait", [](Step& step) { step.wait = 0; }},
          {"dst", [=](Step& step) { step.dst = out; }},
          {"src", [=](Step& step) { step.src = out; }},
          {"src2", [=](Step& step) { step.src2 = out; }},
          {"landing", [=](Step& step) { step.landing = scratch; }},
          {"final", [](Step& step) { step.final_reduction = true; }}};
}

const std::map<StepKind, std::set<std::string>> kFields = {
    {StepKind::Send, {"peer", "src"}},
    {StepKind::Recv, {"peer", "wait", "dst", "landing"}},
    {StepKind::RecvReduce, {"peer", "wait", "dst", "src", "landing", "final"}},
    {StepKind::Copy, {"dst", "src"}},
    {StepKind::Reduce, {"dst", "src", "src2", "final"}},
    {StepKind::Wait, {"wait"}},
    {StepKind::RecvSend, {"peer", "to", "wait", "dst", "landing"}},
    {StepKind::RecvReduceSend, {"peer", "to", "wait", "dst", "src", "landing", "final"}}};

// Sets each field that the kind of the schedule's step at `at` has not. Gives how many these were.
int refuse_surplus(const Schedule& schedule, const At& at) {
  const auto step_of = [&](Schedule& of) -> Step& {
    return of.ranks[static_cast<std::size_t>(at.rank)]
        .channels[static_cast<std::size_t>(at.channel)][static_cast<std::size_t>(at.index)];
  };
  int refused = 0;
  for (const Field& field : fields_of_rank(schedule, at.rank)) {
    Schedule damaged = schedule;
    const StepKind kind = step_of(damaged).kind;
    if (kFields.at(kind).contains(field.name)) continue;
    field.set(step_of(damaged));
    const std::string name(to_string(kind));
    EXPECT_THAT(refusal(damaged),
                AllOf(HasSubstr("rank " + std::to_string(at.rank) + ", channel 0, step " + std::to_string(at.index)),
                      HasSubstr(") has \"" + field.name + "\", of which a " + name + " makes no use; leave it out")));
    ++refused;
  }
  return refused;
}

TEST(Verify, refuses_every_field_that_the_kind_of_a_step_has_not) {
  std::map<StepKind, int> refused;
  for (const Algorithm* algorithm : all_algorithms())
    for (const bool fuse : {false, true})
      for (const bool in_place : {false, true}) {
        const Schedule schedule = build_schedule(*algorithm, flat_group(3), {.in_place = in_place, .fuse = fuse});
        ASSERT_TRUE(verify(schedule).ok()) << algorithm->name;
        for (int rank = 0; rank < 3; ++rank) {
          const std::vector<Step>& list = schedule.ranks[static_cast<std::size_t>(rank)].channels[0];
          for (int i = 0; i < static_cast<int>(list.size()); ++i)
            if (const StepKind kind = list[static_cast<std::size_t>(i)].kind; !refused.contains(kind))
              refused[kind] = refuse_surplus(schedule, {rank, 0, i});
        }
      }
  for (const auto& [kind, fields] : kFields)
    EXPECT_EQ(refused[kind], 8 - static_cast<int>(fields.size())) << to_string(kind);
}

TEST(Verify, refuses_values_of_fields_that_mean_neither_something_nor_nothing) {
  const auto broken = [](auto&& damage) {
    Schedule schedule = direct_of_two();
    damage(schedule);
    return refusal(schedule);
  };
  EXPECT_THAT(broken([](Schedule& s) { steps(s, 0)[0].wait = 65535; }), HasSubstr("has \"wait\""));
  EXPECT_THAT(broken([](Schedule& s) { steps(s, 0)[0].to = -2; }), HasSubstr("has \"to\""));
  EXPECT_THAT(broken([](Schedule& s) { steps(s, 0)[0].landing.slot = 1; }), HasSubstr("has \"landing\""));
  EXPECT_THAT(broken([](Schedule& s) { steps(s, 0)[1].wait = -2; }), HasSubstr("waits for step -2, which is not"));
  EXPECT_THAT(broken([](Schedule& s) { steps(s, 0)[1].dst.slot = 1; }), HasSubstr("a slot, which only scratch has"));
}

TEST(Verify, refuses_numbers_that_lead_outside_of_anything) {
  const int large = std::numeric_limits<int>::max();
  const auto broken = [](auto&& damage) {
    Schedule schedule = direct_of_two();
    damage(schedule);
    return refusal(schedule);
  };
  EXPECT_THAT(broken([&](Schedule& s) { s.size = large; }), HasSubstr("has programs for 2"));
  EXPECT_THAT(broken([&](Schedule& s) { s.root = -1; }), HasSubstr("root -1"));
  EXPECT_THAT(broken([&](Schedule& s) { s.chunks_per_block = 0; }), HasSubstr("at least 1"));
  EXPECT_THAT(broken([&](Schedule& s) { s.chunks_per_block = large; }), HasSubstr("too many to prove"));
  EXPECT_THAT(broken([&](Schedule& s) { s.channels = 2; }), HasSubstr("rank 0 has 1 channels, the schedule 2"));
  EXPECT_THAT(broken([&](Schedule& s) { s.ranks[1].scratch[0].chunks[0] = 7; }), HasSubstr("scratch for chunk 7"));
  EXPECT_THAT(broken([&](Schedule& s) { steps(s, 0)[0].peer = 2; }), HasSubstr("names rank 2, of 2 ranks"));
  EXPECT_THAT(broken([&](Schedule& s) { steps(s, 0)[0].peer = 0; }), HasSubstr("a message with itself"));
  EXPECT_THAT(broken([&](Schedule& s) { steps(s, 0)[0].src.first = large; }), HasSubstr("out of bounds"));
  EXPECT_THAT(broken([&](Schedule& s) { steps(s, 0)[0].src.count = 0; }), HasSubstr("out of bounds"));
  EXPECT_THAT(broken([&](Schedule& s) { steps(s, 0)[1].landing.slot = 5; }), HasSubstr("slot that does not exist"));
  EXPECT_THAT(broken([&](Schedule& s) { steps(s, 0)[1].dst = {}; }), HasSubstr("dst none[0..0) is missing"));
  EXPECT_THAT(broken([&](Schedule& s) { steps(s, 0)[1].dst.space = Space::Input; }), HasSubstr("writes to Input"));
  EXPECT_THAT(broken([&](Schedule& s) { steps(s, 0)[1].wait = 1; }), HasSubstr("not an earlier one"));
  EXPECT_THAT(broken([&](Schedule& s) { steps(s, 0)[0].kind = static_cast<StepKind>(99); }),
              HasSubstr("no known kind"));
}

TEST(Verify, accepts_a_barrier_in_which_somebody_is_heard_of_twice_but_not_one_that_misses_somebody) {
  Schedule schedule = build_schedule(*find_algorithm(Collective::Barrier, "dissemination"), flat_group(3));
  EXPECT_TRUE(verify(schedule).ok());
  // Without the second round each knows of itself and its neighbour only.
  schedule = build_schedule(*find_algorithm(Collective::Barrier, "dissemination"), flat_group(3), {.fuse = false});
  for (RankProgram& program : schedule.ranks) {
    auto& list = program.channels[0];
    const auto second =
        std::find_if(list.begin() + 1, list.end(), [](const Step& step) { return step.kind == StepKind::Send; });
    list.erase(second, list.end());
  }
  EXPECT_THAT(refusal(schedule), HasSubstr("does not know that rank 1 came"));
}

}  // namespace
}  // namespace weft::algorithms
