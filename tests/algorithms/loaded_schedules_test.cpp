// Schedules from files: what every algorithm exports is taken and right for calls in place and out of place; what is
// wrong is refused with the step and the reason; and what is taken is chosen like the built-in ones.
#include "algorithms/loaded_schedules.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "algorithms/alias.hpp"
#include "algorithms/export.hpp"
#include "algorithms/machine.hpp"
#include "algorithms/selector.hpp"
#include "algorithms/verify.hpp"
#include "tests/algorithms/support/execution.hpp"
#include "weft/graph.hpp"

namespace weft::algorithms {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Schedule built(std::string_view collective, std::string_view name, int ranks, BuildOptions options = {}) {
  return build_schedule(*find_algorithm(*parse_collective(collective), name), flat_group(ranks), options);
}

Schedule ring(int ranks, BuildOptions options = {}) { return built("all_reduce", "ring", ranks, options); }

LoadedSchedules loaded(const std::vector<Schedule>& schedules) {
  std::vector<ScheduleText> texts;
  for (const Schedule& schedule : schedules) texts.push_back({fmt::format("{}.json", texts.size()), to_json(schedule)});
  Result<LoadedSchedules> result = LoadedSchedules::load(texts);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().to_string());
  return result ? std::move(*result) : LoadedSchedules();
}

LoadedSchedule one(const Schedule& schedule) {
  Result<LoadedSchedule> result = load_schedule({"one.json", to_json(schedule)});
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().to_string());
  return result ? std::move(*result) : LoadedSchedule();
}

std::string refusal(const std::string& text) {
  const Result<LoadedSchedule> result = load_schedule({"wrong.json", text});
  if (result) return "taken";
  EXPECT_EQ(result.error().code(), Code::Corrupt);
  return std::string(result.error().message());
}

std::string refusal(const Schedule& schedule) { return refusal(to_json(schedule)); }

std::size_t copies(const Schedule& schedule) {
  std::size_t count = 0;
  for (const RankProgram& rank : schedule.ranks)
    for (const std::vector<Step>& steps : rank.channels)
      for (const Step& step : steps) count += step.kind == StepKind::Copy ? 1 : 0;
  return count;
}

// Calls that are in place on some ranks only.
Schedule mixed(const LoadedSchedule& schedule) {
  Schedule result = schedule.out_of_place;
  for (std::size_t rank = 0; rank < result.ranks.size(); rank += 2) result.ranks[rank] = schedule.in_place.ranks[rank];
  return result;
}

// By memory and random orders, which shares nothing with the proof.
void expect_right(const Schedule& schedule, const std::string& what, std::uint64_t seed) {
  const Status proof = verify(schedule);
  EXPECT_TRUE(proof.ok()) << what << ": " << proof.message();
  for (const int slots : {0, 1, -1}) {
    EXPECT_EQ(test::Execution(schedule, {.elements = 11, .slots = slots, .seed = seed}).run(), "")
        << what << ", seed " << seed;
  }
}

class Exported : public ::testing::TestWithParam<int> {};

TEST_P(Exported, every_algorithm_serves_calls_in_place_out_of_place_and_mixed) {
  const int ranks = GetParam();
  const std::uint64_t seed = std::random_device{}();
  for (const Algorithm* algorithm : all_algorithms()) {
    const Request request = {.collective = algorithm->collective, .root = ranks - 1, .count = 1024};
    if (!algorithm->unsupported(flat_group(ranks), request).empty()) continue;
    for (const bool in_place : {false, true}) {
      for (const int replicas : {1, 2}) {
        if (replicas > 1 && !algorithm->replicable) continue;
        const BuildOptions options{.root = ranks - 1, .replicas = replicas, .in_place = in_place};
        const Schedule schedule = build_schedule(*algorithm, flat_group(ranks), options);
        const std::string what =
            fmt::format("{}/{} on {} ranks, {} replicas, made {} place", to_string(algorithm->collective),
                        algorithm->name, ranks, replicas, in_place ? "in" : "out of");
        const Result<LoadedSchedule> result = load_schedule({"file.json", to_json(schedule)});
        ASSERT_TRUE(result.has_value()) << what << ": " << result.error().message();
        EXPECT_EQ(result->name, fmt::format("file.{}", algorithm->name));
        EXPECT_EQ(result->for_call(in_place).ranks, schedule.ranks) << what;
        expect_right(result->for_call(!in_place), what + ", for the other calls", seed);
        expect_right(mixed(*result), what + ", mixed", seed);
        EXPECT_EQ(result->in_place.program_hash, result->out_of_place.program_hash);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Exported, ::testing::Values(1, 2, 3, 4, 5, 8));

TEST(Alias, copies_only_what_would_be_lost) {
  // Rank r's own block is in place already, and nothing else of Input is overwritten.
  const Schedule gather = built("all_gather", "ring", 4);
  EXPECT_GT(copies(gather), 0U);
  EXPECT_EQ(copies(with_aliasing(gather, true)), 0U);
  // A ring sends one chunk of Input from each rank, and reads the others while it writes them.
  EXPECT_EQ(copies(with_aliasing(ring(4), true)), 4U);
  EXPECT_EQ(with_aliasing(ring(4), false), ring(4));
  const Schedule in_place = ring(4, {.in_place = true});
  EXPECT_EQ(with_aliasing(in_place, true), in_place);
}

TEST(LoadedSchedule, says_what_it_can_do) {
  EXPECT_EQ(one(ring(5, {.uneven = true})).to_string(), "all_reduce/file.ring: 5 ranks, 1 channel; from one.json");
  EXPECT_EQ(one(built("all_reduce", "recursive_doubling", 4, {.canonical = true})).to_string(),
            "all_reduce/file.recursive_doubling: 4 ranks, 1 channel, invariant; from one.json");
  EXPECT_EQ(one(built("broadcast", "binomial", 3, {.root = 2})).to_string(),
            "broadcast/file.binomial: 3 ranks, root 2, 1 channel; from one.json");
  EXPECT_THAT(one(built("all_to_all", "pairwise", 3, {.uneven = true})).to_string(), HasSubstr(", v-variants"));
}

TEST(LoadedSchedule, passes_need_a_proof_for_pieces_of_unequal_lengths) {
  // Blocks of others pass through scratch that chunks of several blocks share.
  const Schedule even = built("reduce_scatter", "ring", 5);
  const LoadedSchedule shares = one(even);
  EXPECT_FALSE(shares.out_of_place.uneven);
  EXPECT_FALSE(shares.v_variants);
  EXPECT_THAT(shares.to_string(), HasSubstr("long calls in one pass"));
  const LoadedSchedule parted = one(built("reduce_scatter", "ring", 5, {.uneven = true}));
  EXPECT_TRUE(parted.out_of_place.uneven && parted.in_place.uneven);
  EXPECT_TRUE(parted.v_variants);
  // What passes on blocks whose lengths it does not know serves even ones only.
  const LoadedSchedule bruck = one(built("all_to_all", "bruck", 5, {.uneven = true}));
  EXPECT_TRUE(bruck.out_of_place.uneven);
  EXPECT_FALSE(bruck.v_variants);
  // A file cannot claim it either.
  Schedule claims = even;
  claims.uneven = true;
  EXPECT_THAT(refusal(claims), HasSubstr("rank "));
}

TEST(LoadedSchedule, tells_why_it_cannot_serve) {
  const LoadedSchedule loaded_ring = one(ring(5));
  Request request = {.collective = Collective::AllReduce, .count = 100};
  EXPECT_EQ(loaded_ring.unsupported(5, request), "");
  EXPECT_EQ(loaded_ring.unsupported(4, request), "is for 5 ranks");
  request.numerics = Numerics::Invariant;
  EXPECT_EQ(loaded_ring.unsupported(5, request), "reduces in another order than Numerics::Invariant asks for");
  const LoadedSchedule tree = one(built("broadcast", "binomial", 3, {.root = 2}));
  EXPECT_EQ(tree.unsupported(3, {.collective = Collective::Broadcast, .root = 1}), "is for root 2");
  EXPECT_EQ(tree.unsupported(3, {.collective = Collective::Broadcast, .root = 2}), "");
  EXPECT_EQ(one(built("all_to_all", "bruck", 5)).unsupported(5, {.collective = Collective::AllToAll, .uneven = true}),
            "was not proved for blocks of unequal lengths");
}

TEST(LoadedSchedule, its_hash_is_of_all_that_the_file_holds) {
  Schedule schedule = ring(3);
  const std::uint64_t hash = one(schedule).out_of_place.program_hash;
  EXPECT_EQ(one(schedule).out_of_place.program_hash, hash);
  schedule.ranks[0].scratch.push_back({{0}});
  EXPECT_NE(one(schedule).out_of_place.program_hash, hash);
}

// ---- what is wrong ----

TEST(WrongFile, a_dropped_step_is_told_with_who_waits_for_it) {
  Schedule schedule = ring(4);
  schedule.ranks[2].channels[0].erase(schedule.ranks[2].channels[0].begin());
  EXPECT_THAT(refusal(schedule), AllOf(HasSubstr("wrong.json: all_reduce/ring on 4 ranks: rank "),
                                       HasSubstr("channel 0, step "), HasSubstr(" (Recv")));
}

TEST(WrongFile, a_wrong_chunk_is_told_with_its_step) {
  Schedule schedule = ring(4);
  schedule.ranks[1].channels[0].front().src.first = (schedule.ranks[1].channels[0].front().src.first + 1) % 4;
  EXPECT_THAT(refusal(schedule), AllOf(HasSubstr("rank 2, channel 0, step "), HasSubstr("other chunks than")));
}

TEST(WrongFile, a_wrong_contribution_is_told_with_its_rank) {
  Schedule schedule = built("all_gather", "direct", 3);
  for (RankProgram& rank : schedule.ranks)
    for (Step& step : rank.channels[0])
      if (step.kind == StepKind::Recv) step.dst.first = (step.dst.first + 1) % 3;
  EXPECT_THAT(refusal(schedule), AllOf(HasSubstr("rank 0"), HasSubstr("chunk")));
}

TEST(WrongFile, ranks_that_wait_for_each_other_are_told) {
  Schedule schedule = built("all_reduce", "recursive_doubling", 2);
  for (RankProgram& rank : schedule.ranks) {
    auto& steps = rank.channels[0];
    const auto send = std::find_if(steps.begin(), steps.end(), [](const Step& s) { return s.kind == StepKind::Send; });
    const auto take = std::find_if(steps.begin(), steps.end(), [](const Step& s) { return receives(s.kind); });
    ASSERT_TRUE(send < take && take != steps.end());
    std::iter_swap(send, take);
  }
  EXPECT_THAT(refusal(schedule), AllOf(HasSubstr("rank 0, channel 0, step 0 (RecvReduce from rank 1)"),
                                       HasSubstr("waits for ever for its message; 2 channels are stuck")));
}

TEST(WrongFile, a_write_under_a_send_is_told) {
  Schedule schedule = ring(4, {.in_place = true});
  bool changed = false;
  for (RankProgram& rank : schedule.ranks)
    for (Step& step : rank.channels[0]) {
      if (step.wait < 0 || !receives(step.kind)) continue;
      step.wait = -1;
      changed = true;
    }
  ASSERT_TRUE(changed);
  EXPECT_THAT(refusal(schedule), HasSubstr("may still read it; wait for that step first"));
}

TEST(WrongFile, a_field_of_which_a_step_makes_no_use_is_told_with_its_name) {
  const auto damaged = [](Schedule schedule, std::size_t rank, StepKind kind, auto&& damage) {
    auto& steps = schedule.ranks[rank].channels[0];
    const auto step = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return s.kind == kind; });
    EXPECT_NE(step, steps.end());
    damage(*step);
    return refusal(schedule);
  };
  EXPECT_THAT(damaged(ring(5), 0, StepKind::Send, [](Step& s) { s.wait = 65535; }),
              HasSubstr("rank 0, channel 0, step 0 (Send to rank 1) has \"wait\", of which a Send makes no use"));
  EXPECT_THAT(damaged(ring(5), 0, StepKind::Send, [](Step& s) { s.wait = 0; }), HasSubstr("has \"wait\""));
  const Schedule scatter = built("scatter", "binomial", 3);
  ASSERT_TRUE(scatter.ranks[0].scratch.empty());
  const auto land = [](Step& s) { s.landing = {Space::Scratch, 0, 0, 1}; };
  EXPECT_THAT(damaged(scatter, 0, StepKind::Send, land), HasSubstr("(Send to rank 2) has \"landing\""));
  EXPECT_THAT(damaged(scatter, 0, StepKind::Copy, land), HasSubstr("(Copy) has \"landing\""));
  const Schedule gather = built("all_gather", "ring", 3);
  EXPECT_THAT(damaged(gather, 1, StepKind::Send, [](Step& s) { s.to = 1; }), HasSubstr("(Send to rank 2) has \"to\""));
  EXPECT_THAT(damaged(gather, 1, StepKind::Copy, [](Step& s) { s.peer = 1; }), HasSubstr("(Copy) has \"peer\""));
}

// The engine counts landings in units; of a slot only the beginning is on one.
TEST(WrongFile, a_landing_inside_its_slot_is_told) {
  Schedule schedule = ring(3);
  RankProgram& program = schedule.ranks[0];
  const auto reduces = std::find_if(program.channels[0].begin(), program.channels[0].end(),
                                    [](const Step& step) { return step.landing.space == Space::Scratch; });
  ASSERT_NE(reduces, program.channels[0].end());
  const auto& chunks = program.scratch[static_cast<std::size_t>(reduces->landing.slot)].chunks;
  program.scratch.push_back({{chunks[0], chunks[0]}});
  reduces->landing.slot = static_cast<std::int32_t>(program.scratch.size()) - 1;
  EXPECT_EQ(one(schedule).size(), 3);
  reduces->landing.first = 1;
  EXPECT_THAT(refusal(schedule), HasSubstr("has a landing that does not begin its slot; give it a slot of its own"));
}

TEST(WrongFile, what_is_no_schedule_of_this_version_is_told_with_its_place) {
  const std::string text = to_json(ring(3));
  const auto with = [&](std::string_view what, std::string_view other) {
    std::string changed = text;
    return changed.replace(changed.find(what), what.size(), other);
  };
  EXPECT_THAT(refusal(text + "{}"), HasSubstr("wrong.json: schedule JSON: not JSON at line "));
  EXPECT_THAT(refusal(with("\"schema\": 1", "\"schema\": 2")), HasSubstr("schema is not a whole number from 1 to 1"));
  EXPECT_THAT(refusal(with("\"size\": 3", "\"size\": 4")), HasSubstr("ranks has 3 entries for 4 ranks"));
  EXPECT_THAT(refusal(with("\"algorithm\": \"ring\"", "\"algorithm\": \"a ring\"")),
              HasSubstr("the algorithm's name must be 1 to 64 letters, digits, _ or -"));
  EXPECT_THAT(refusal(with("\"algorithm\": \"ring\"", "\"algorithm\": \"\"")), HasSubstr("name must be"));
}

TEST(WrongFile, what_is_too_large_is_refused_before_it_is_proved) {
  EXPECT_THAT(refusal(ring(2, {.replicas = 65})), HasSubstr("it has 65 channels; at most 64 can run"));
  Schedule many_pieces = ring(2);
  many_pieces.chunks_per_block = 1 << 22;
  EXPECT_THAT(refusal(many_pieces), HasSubstr("more than 4194304 pieces of memory"));
  Schedule many_moves = ring(2);
  many_moves.chunks_per_block = 1 << 19;
  Step copy;
  copy.dst = {Space::Output, 0, 0, 1 << 19};
  copy.src = {Space::Input, 0, 0, 1 << 19};
  many_moves.ranks[0].channels[0].insert(many_moves.ranks[0].channels[0].begin(), 20, copy);
  EXPECT_THAT(refusal(many_moves), HasSubstr("the steps move more than 16777216 pieces"));
}

TEST(WrongFile, steps_of_one_rank_are_no_schedule) {
  EXPECT_THAT(refusal(ring(3, {.only_rank = 1})), HasSubstr("rank 1, channel 0, step "));
}

TEST(WrongFile, two_of_one_name_are_told_apart_by_ranks_and_root_only) {
  EXPECT_EQ(loaded({ring(3), ring(4), built("all_gather", "ring", 3)}).all().size(), 3U);
  EXPECT_EQ(loaded({built("reduce", "binomial", 3), built("reduce", "binomial", 3, {.root = 1})}).all().size(), 2U);
  const Result<LoadedSchedules> twins =
      LoadedSchedules::load({{"a.json", to_json(ring(3))}, {"b.json", to_json(ring(3, {.replicas = 2}))}});
  ASSERT_FALSE(twins.has_value());
  EXPECT_EQ(twins.error().code(), Code::InvalidArgument);
  EXPECT_EQ(twins.error().message(),
            "a.json and b.json both hold all_reduce/ring for 3 ranks; change the \"algorithm\" of one of them");
}

TEST(ScheduleFiles, that_cannot_be_read_are_named) {
  const auto missing = read_schedule_files({"/nowhere/ring.json"});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code(), Code::NotFound);
  EXPECT_THAT(std::string(missing.error().message()), HasSubstr("/nowhere/ring.json"));
  EXPECT_EQ(read_schedule_files({"/dev/zero"}).status().code(), Code::InvalidArgument);
  const std::vector<std::string> many(65, "ring.json");
  EXPECT_THAT(std::string(read_schedule_files(many).error().message()), HasSubstr("65 schedule files"));
}

// ---- choosing ----

class Choosing : public ::testing::Test {
 protected:
  static CostModel model(int ranks) {
    const Result<topology::Graph> graph = topology::model("cpu-2socket");
    const Result<std::vector<int>> placement = topology::place(*graph, ranks);
    return std::move(*CostModel::create(topology::make_group(*graph, *placement), *graph, *placement));
  }
  Choice choose_on(int ranks, std::string_view rules = "", const MeasuredTable* table = nullptr) {
    CostModel costs = model(ranks);
    const Result<Overrides> overrides = Overrides::parse(rules, &files_);
    EXPECT_TRUE(overrides.has_value()) << (overrides ? "" : overrides.error().to_string());
    const Request request = {.collective = Collective::AllReduce, .dtype = DataType::UInt8, .count = 1 << 20};
    Result<Choice> choice = choose(request, *overrides, table, costs, Detail::Everything, &files_);
    EXPECT_TRUE(choice.has_value()) << (choice ? "" : choice.error().to_string());
    return choice ? std::move(*choice) : Choice();
  }
  static const Candidate* candidate(const Choice& choice, std::string_view name) {
    const auto found = std::find_if(choice.candidates.begin(), choice.candidates.end(),
                                    [&](const Candidate& one) { return one.algorithm == name; });
    return found == choice.candidates.end() ? nullptr : &*found;
  }

  LoadedSchedules files_ = loaded({ring(4)});
};

TEST_F(Choosing, a_file_costs_what_the_algorithm_costs_that_it_was_made_of) {
  const Choice choice = choose_on(4);
  const Candidate* const from_file = candidate(choice, "file.ring");
  ASSERT_NE(from_file, nullptr);
  EXPECT_GT(from_file->estimate_ns, 0);
  EXPECT_EQ(from_file->estimate_ns, candidate(choice, "ring")->estimate_ns);
}

TEST_F(Choosing, where_it_does_not_fit_it_says_why) {
  const Choice choice = choose_on(3, "all_reduce:file.ring");
  ASSERT_NE(candidate(choice, "file.ring"), nullptr);
  EXPECT_EQ(candidate(choice, "file.ring")->note, "is for 4 ranks");
  EXPECT_NE(choice.winner().algorithm, "file.ring");
  EXPECT_THAT(choice.reason, HasSubstr("asks for file.ring, which cannot serve this call (is for 4 ranks)"));
}

TEST_F(Choosing, rules_may_name_it) {
  const Choice choice = choose_on(4, "all_reduce:1k-:file.ring@1");
  EXPECT_EQ(choice.winner().algorithm, "file.ring");
  EXPECT_EQ(choice.source, ChoiceSource::Override);
  const Selected winner = selected(choice, &files_, 0);
  EXPECT_EQ(winner.loaded, &files_.all().front());
  EXPECT_EQ(winner.algorithm, nullptr);
  EXPECT_EQ(selected(choice).loaded, nullptr);
}

TEST_F(Choosing, rules_that_name_what_is_not_there_say_what_is) {
  EXPECT_THAT(std::string(Overrides::parse("all_reduce:file.tree", &files_).error().message()),
              AllOf(HasSubstr("there is no all_reduce algorithm \"file.tree\"; known: "), HasSubstr(", file.ring")));
  EXPECT_THAT(std::string(Overrides::parse("all_reduce:file.ring").error().message()), HasSubstr("WEFT_SCHEDULES"));
  EXPECT_THAT(std::string(Overrides::parse("all_reduce:file.ring@2", &files_).error().message()),
              HasSubstr("file.ring runs on 1 channel only"));
}

TEST_F(Choosing, a_measured_table_may_name_it) {
  CostModel costs = model(4);
  MeasuredTable table{costs.fingerprint(), {}};
  table.cells.push_back({Collective::AllReduce, 4, 1 << 20, "ring", 1, 2000});
  table.cells.push_back({Collective::AllReduce, 4, 1 << 20, "file.ring", 1, 1000});
  const Choice choice = choose_on(4, "", &table);
  EXPECT_EQ(choice.source, ChoiceSource::Table);
  EXPECT_EQ(choice.winner().algorithm, "file.ring");
}

TEST_F(Choosing, of_several_of_one_name_the_one_that_fits_counts) {
  files_ = loaded({ring(3), ring(4), ring(5)});
  const Choice choice = choose_on(4, "all_reduce:file.ring");
  EXPECT_EQ(choice.winner().algorithm, "file.ring");
  EXPECT_EQ(std::count_if(choice.candidates.begin(), choice.candidates.end(),
                          [](const Candidate& one) { return one.algorithm == "file.ring"; }),
            1);
  EXPECT_EQ(selected(choice, &files_, 0).loaded->size(), 4);
}

}  // namespace
}  // namespace weft::algorithms
