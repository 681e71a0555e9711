// Runs the fuzz target of schedules over seeds and seeded mutations of them: no input crashes it, hangs it or breaks a
// promise.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "algorithms/export.hpp"
#include "algorithms/loaded_schedules.hpp"
#include "tests/topology/support/fuzz.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

using topology::test::feed;

constexpr int kMutations = 3000;
constexpr int kFieldMutations = 6000;
const std::vector<std::string> kWords = {"-1",
                                         "0",
                                         "1",
                                         "2",
                                         "3",
                                         "2147483647",
                                         "null",
                                         "[]",
                                         "{}",
                                         "\"in\"",
                                         "\"out\"",
                                         "\"scratch\"",
                                         "true",
                                         "\"Send\"",
                                         "\"Wait\"",
                                         "\"Recv\"",
                                         "\"RecvReduce\"",
                                         "\"Copy\"",
                                         "\"Reduce\""};

std::vector<std::string> seeds() {
  std::vector<std::string> texts = {"", "{}", "[]", "{\"schema\":1}", "\xff\xfe"};
  for (const Algorithm* algorithm : all_algorithms())
    for (const bool in_place : {false, true})
      texts.push_back(to_json(build_schedule(*algorithm, flat_group(3), {.root = 1, .in_place = in_place})));
  return texts;
}

// Schedules of all kinds of steps; half of them of blocks of unequal lengths.
std::vector<Schedule> schedules() {
  std::vector<Schedule> result;
  for (const Algorithm* algorithm : all_algorithms())
    for (const bool fuse : {false, true})
      for (const bool uneven : {false, true})
        result.push_back(build_schedule(*algorithm, flat_group(3),
                                        {.replicas = algorithm->replicable ? 2 : 1, .uneven = uneven, .fuse = fuse}));
  return result;
}

class FieldMutator {
 public:
  explicit FieldMutator(std::mt19937& random) : random_(random) {}

  // One field of one step, or the size of one piece of scratch, becomes another that a file can hold.
  void mutate(Schedule& schedule) {
    RankProgram& program = schedule.ranks[below(schedule.ranks.size())];
    std::vector<Step>& steps = program.channels[below(program.channels.size())];
    if (steps.empty()) return;
    Step& step = steps[below(steps.size())];
    const std::array<Span*, 4> spans = {&step.dst, &step.src, &step.src2, &step.landing};
    switch (below(9)) {
      case 0:
        step.peer = number(3) - 1;
        break;
      case 1:
        step.to = number(3) - 1;
        break;
      case 2:
        step.wait = below(8) == 0 ? 65535 : number(static_cast<int>(steps.size())) - 1;
        break;
      case 3:
        step.final_reduction = !step.final_reduction;
        break;
      case 4:
        program.scratch.push_back({{0, number(schedule.chunks_per_block)}});
        *spans[3] = {Space::Scratch, static_cast<std::int32_t>(program.scratch.size()) - 1, number(2), 1 + number(2)};
        break;
      case 5:
        ++spans[below(spans.size())]->count;
        break;
      default: {
        const auto space = static_cast<Space>(number(4));
        *spans[below(spans.size())] =
            space == Space::None ? Span() : Span{space, space == Space::Scratch ? number(2) : 0, number(2), 1};
      }
    }
  }

 private:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  std::int32_t number(int limit) { return static_cast<std::int32_t>(below(static_cast<std::size_t>(limit))); }

  std::mt19937& random_;
};

TEST(ScheduleJsonFuzz, seeds_keep_all_promises) {
  for (const std::string& text : seeds()) feed(text);
}

TEST(ScheduleJsonFuzz, mutations_keep_all_promises) {
  EXPECT_GT(topology::test::feed_mutations(seeds(), kWords, kMutations,
                                           [](const std::string& text) {
                                             return load_schedule({"a file", text}).has_value();
                                           }),
            0.001);
}

TEST(ScheduleJsonFuzz, mutations_of_single_fields_keep_all_promises) {
  std::mt19937 random = topology::test::seeded_random();
  FieldMutator mutator(random);
  const std::vector<Schedule> whole = schedules();
  const long runs = topology::test::fuzz_runs(kFieldMutations);
  long accepted = 0;
  for (long i = 0; i < runs; ++i) {
    Schedule schedule = whole[static_cast<std::size_t>(i) % whole.size()];
    mutator.mutate(schedule);
    const std::string text = to_json(schedule);
    feed(text);
    accepted += load_schedule({"a file", text}).has_value() ? 1 : 0;
  }
  std::printf("%ld of %ld were accepted\n", accepted, runs);
  EXPECT_GT(accepted, runs / 100);
  EXPECT_LT(accepted, runs / 2);
}

}  // namespace
}  // namespace weft::algorithms
