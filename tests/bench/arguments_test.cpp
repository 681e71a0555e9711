// The command line of weft-bench: what it means, and what is refused with one clear line.
#include "bench/weft-bench/arguments.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "algorithms/export.hpp"
#include "tests/support/temporary_folder.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Parsed parse_words(std::vector<std::string> words) {
  words.insert(words.begin(), "weft-bench");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  return parse(static_cast<int>(argv.size()), argv.data());
}

TEST(Arguments, names_become_values) {
  const auto parsed =
      parse_words({"all_reduce", "all_gather", "-n", "4", "--dtype", "f32,bf16", "--op", "sum,max", "--min-bytes", "4k",
                   "--max-bytes", "1M", "--root", "all", "--transport", "shm,ucx"});
  ASSERT_TRUE(parsed.arguments) << parsed.text;
  EXPECT_THAT(parsed.arguments->collectives, ElementsAre(Kind{Collective::AllReduce}, Kind{Collective::AllGather}));
  EXPECT_THAT(parsed.arguments->dtypes, ElementsAre(DataType::Float32, DataType::BFloat16));
  EXPECT_THAT(parsed.arguments->ops, ElementsAre(ReduceOp::Sum, ReduceOp::Max));
  EXPECT_EQ(parsed.arguments->min_bytes, 4096u);
  EXPECT_EQ(parsed.arguments->max_bytes, 1u << 20);
  EXPECT_EQ(parsed.arguments->root, kAllRoots);
  EXPECT_THAT(parsed.arguments->transports, ElementsAre("shm", "ucx"));
  EXPECT_EQ(parsed.arguments->ranks, 4);
}

TEST(Arguments, all_is_every_collective_once) {
  const auto parsed = parse_words({"all", "all_reduce"});
  ASSERT_TRUE(parsed.arguments) << parsed.text;
  EXPECT_EQ(parsed.arguments->collectives.size(), static_cast<std::size_t>(kCollectives) + 5);  // and the v-variants
}

TEST(Arguments, the_list_names_every_algorithm) {
  const auto parsed = parse_words({"--list"});
  EXPECT_FALSE(parsed.wrong);
  for (const Algorithm* algorithm : all_algorithms())
    EXPECT_THAT(parsed.text, HasSubstr("\n  " + std::string(algorithm->name) + " "));
  EXPECT_THAT(parsed.text, HasSubstr("all_to_all_v"));
}

class WithSchedule : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(file_) << algorithms::to_json(
        build_schedule(*find_algorithm(Collective::Broadcast, "binomial"), flat_group(3), {.root = 2}));
  }

  test::TemporaryFolder folder_;
  std::string file_ = folder_.path() + "/tree.json";
};

TEST_F(WithSchedule, collective_root_and_ranks_are_those_of_the_file) {
  const auto parsed = parse_words({"--schedule", file_});
  ASSERT_TRUE(parsed.arguments) << parsed.text;
  EXPECT_THAT(parsed.arguments->collectives, ElementsAre(Kind{Collective::Broadcast}));
  EXPECT_EQ(parsed.arguments->root, 2);
  EXPECT_EQ(parsed.arguments->schedule_ranks, 3);
  Options options;
  apply(*parsed.arguments, options);
  EXPECT_THAT(options.schedule_files, ElementsAre(file_));
  EXPECT_EQ(options.algorithms, "broadcast:file.binomial");
  apply(*parsed.arguments, options);  // WEFT_SCHEDULES names it already
  EXPECT_EQ(options.schedule_files.size(), 1u);
}

TEST_F(WithSchedule, what_the_file_is_not_for_is_refused) {
  EXPECT_THAT(parse_words({"all_reduce", "--schedule", file_}).text,
              HasSubstr("it is for broadcast, not for all_reduce"));
  EXPECT_THAT(parse_words({"--schedule", file_, "-n", "4"}).text, HasSubstr("it is for 3 ranks, and -n is 4"));
  EXPECT_THAT(parse_words({"--schedule", file_, "--root", "all"}).text,
              HasSubstr("it is for root 2, and --root is all"));
  EXPECT_THAT(parse_words({"--schedule", file_, "--algorithm", "chain"}).text, HasSubstr("leave --algorithm out"));
  EXPECT_THAT(parse_words({"--schedule", file_, "--quantise", "int8"}).text,
              AllOf(HasSubstr("--schedule is one algorithm"), Not(HasSubstr("--algorithm"))));
  EXPECT_THAT(parse_words({"--schedule", folder_.path() + "/none.json"}).text, HasSubstr("cannot read"));
  std::ofstream(file_) << "{}";
  EXPECT_THAT(parse_words({"--schedule", file_}).text, HasSubstr("lacks \"schema\""));
}

TEST_F(WithSchedule, what_compares_algorithms_takes_it_as_one_more) {
  const auto parsed = parse_words({"--regret", "broadcast", "-n", "3", "--schedule", file_});
  ASSERT_TRUE(parsed.arguments) << parsed.text;
  EXPECT_EQ(parsed.arguments->algorithm, "");
  EXPECT_EQ(parsed.arguments->schedule_ranks, 0);
}

TEST_F(WithSchedule, the_list_tells_what_it_can_do) {
  EXPECT_THAT(parse_words({"--list", "--schedule", file_}).text,
              HasSubstr("\n  broadcast/file.binomial: 3 ranks, root 2, 1 channel; from " + file_));
}

TEST(Arguments, numerics_are_fast_or_invariant) {
  EXPECT_EQ(parse_words({"all_reduce", "--numerics", "invariant"}).arguments->numerics, Numerics::Invariant);
  EXPECT_FALSE(parse_words({"all_reduce"}).arguments->numerics);
  const auto wrong = parse_words({"all_reduce", "--numerics", "exact"});
  EXPECT_TRUE(wrong.wrong);
  EXPECT_THAT(wrong.text, HasSubstr("\"exact\" is neither fast nor invariant"));
}

TEST(Arguments, messages_are_measured_by_themselves) {
  EXPECT_EQ(parse_words({"send_recv", "-n", "2"}).arguments->task, Task::Messages);
  EXPECT_THAT(parse_words({"send_recv", "all_reduce"}).text, HasSubstr("by itself"));
  EXPECT_THAT(parse_words({"--explain", "send_recv"}).text, HasSubstr("--explain does not take send_recv"));
  EXPECT_THAT(parse_words({"send_recv", "--soak", "1"}).text, HasSubstr("--soak does not take send_recv"));
  for (const std::string flag : {"--in-place", "--out-of-place", "--symmetric", "--hash"})
    EXPECT_THAT(parse_words({"send_recv", flag}).text, HasSubstr("leave it out with send_recv")) << flag;
  for (const std::string option : {"--op", "--dtype", "--root", "--skew", "--algorithm", "--numerics"})
    EXPECT_THAT(
        parse_words({"send_recv", option, "1"}).text,
        AllOf(StartsWith(option + " goes with measured collectives"), HasSubstr("leave it out with send_recv")));
}

TEST(Arguments, a_soak_draws_from_all_that_is_not_named) {
  const auto soak = parse_words({"--soak", "2", "-n", "4"});
  ASSERT_TRUE(soak.arguments) << soak.text;
  EXPECT_EQ(soak.arguments->task, Task::Soak);
  EXPECT_EQ(soak.arguments->dtypes.size(), static_cast<std::size_t>(kDataTypes));
  EXPECT_EQ(soak.arguments->max_bytes, 4U << 20);
  EXPECT_EQ(parse_words({"--soak", "2", "all_reduce", "--dtype", "int8"}).arguments->dtypes.size(), 1U);
  EXPECT_THAT(parse_words({"--soak", "2", "all_reduce", "barrier"}).arguments->collectives,
              ElementsAre(Kind{Collective::AllReduce}, Kind{Collective::Barrier}));
  EXPECT_THAT(parse_words({"--soak", "2", "--tune"}).text, HasSubstr("give one of them"));
  EXPECT_TRUE(parse_words({"--soak", "0"}).wrong);
}

TEST(Arguments, emulated_hosts_say_how_many_ranks_there_are) {
  const auto hosts = parse_words({"all_reduce", "--hosts", "7,8"});
  ASSERT_TRUE(hosts.arguments) << hosts.text;
  EXPECT_THAT(hosts.arguments->hosts, ElementsAre(7, 8));
  EXPECT_EQ(hosts.arguments->ranks, 15);
  EXPECT_FALSE(parse_words({"--tune", "--hosts", "2,2", "-n", "4"}).wrong);
  EXPECT_THAT(parse_words({"all_reduce", "--hosts", "7,8", "-n", "4"}).text,
              HasSubstr("the sum of --hosts, which is 15"));
  EXPECT_TRUE(parse_words({"all_reduce", "--hosts", "0,2"}).wrong);
  EXPECT_THAT(parse_words({"all_reduce", "--hosts", "4096,1"}).text, HasSubstr("start 4097 ranks, more than 4096"));
}

TEST(Arguments, to_calibrate_takes_no_collectives_and_to_explain_needs_some) {
  EXPECT_EQ(parse_words({"--calibrate"}).arguments->task, Task::Calibrate);
  EXPECT_THAT(parse_words({"--calibrate", "all_reduce"}).text, HasSubstr("leave collectives out"));
  EXPECT_THAT(parse_words({"--calibrate", "--algorithm", "ring"}).text, HasSubstr("leave it out with --calibrate"));
  EXPECT_THAT(parse_words({"--calibrate", "--json", "x"}).text, HasSubstr("write to --table"));
  EXPECT_EQ(parse_words({"all_reduce", "--explain", "-n", "4"}).arguments->task, Task::Explain);
  EXPECT_THAT(parse_words({"--explain"}).text, HasSubstr("collective is required"));
  EXPECT_THAT(parse_words({"all_reduce", "--explain", "--calibrate"}).text, HasSubstr("give one of them"));
}

TEST(Arguments, quantisation_is_int8_or_e4m3) {
  const auto parsed = parse_words({"all_reduce", "all_gather", "--quantise", "e4m3", "--op", "sum,avg"});
  ASSERT_TRUE(parsed.arguments) << parsed.text;
  EXPECT_EQ(parsed.arguments->quantisation, Quantisation::Float8E4M3);
  EXPECT_EQ(parse_words({"all_reduce"}).arguments->quantisation, Quantisation::None);
}

TEST(Arguments, what_compares_algorithms_takes_all_collectives_in_factors_of_four) {
  const auto tune = parse_words({"--tune", "-n", "2"});
  ASSERT_TRUE(tune.arguments) << tune.text;
  EXPECT_EQ(tune.arguments->task, Task::Tune);
  EXPECT_EQ(tune.arguments->collectives.size(), static_cast<std::size_t>(kCollectives));
  EXPECT_EQ(tune.arguments->factor, 4);
  EXPECT_EQ(parse_words({"--regret", "--factor", "16"}).arguments->factor, 16);
  EXPECT_TRUE(parse_words({"--tune", "--regret"}).wrong);
  EXPECT_TRUE(parse_words({"--tune", "--json", "x.json"}).wrong);
  EXPECT_THAT(parse_words({"--tune", "--dtype", "all"}).text, HasSubstr("one --dtype"));
  EXPECT_THAT(parse_words({"--tune", "--in-place", "--out-of-place"}).text, HasSubstr("in place or not"));
  EXPECT_THAT(parse_words({"--tune", "--numerics", "invariant"}).text, HasSubstr("leave it out"));
}

TEST(Arguments, what_compares_algorithms_takes_a_time_for_each) {
  EXPECT_EQ(parse_words({"--tune"}).arguments->time_budget_s, kTuneBudgetS);
  EXPECT_EQ(parse_words({"--regret"}).arguments->time_budget_s, kRegretBudgetS);
  EXPECT_EQ(parse_words({"--tune", "--time-budget", "3"}).arguments->time_budget_s, 3);
  EXPECT_EQ(parse_words({"--regret", "--time-budget", "0.2"}).arguments->time_budget_s, 0.2);
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Arguments, what_a_task_would_ignore_is_refused) {
  const std::vector<std::vector<std::string>> tasks = {
      {"--tune"}, {"--regret"}, {"--calibrate"}, {"--soak", "1"}, {"all_reduce", "--explain"}};
  for (const auto& task : tasks) {
    for (const std::vector<std::string>& ignored :
         {std::vector<std::string>{"--iterations", "0"}, {"--warmup", "5"}, {"--no-check"}})
      EXPECT_THAT(parse_words(with(task, ignored)).text,
                  StartsWith(ignored.front() + " goes with measured collectives and send_recv: leave it out with --"));
    for (const std::vector<std::string>& ignored :
         {std::vector<std::string>{"--hash"}, {"--hash-count", "3"}, {"--hash", "--hash-count", "3"}})
      EXPECT_THAT(parse_words(with(task, ignored)).text,
                  StartsWith(ignored.front() + " goes with measured collectives: leave it out with --"));
    EXPECT_FALSE(parse_words(with(task, {"--check"})).wrong) << task.back();
  }
  for (std::size_t i = 2; i < tasks.size(); ++i)
    EXPECT_THAT(
        parse_words(with(tasks[i], {"--time-budget", "1"})).text,
        StartsWith("--time-budget goes with measured collectives, send_recv, --tune and --regret: leave it out"));
  EXPECT_FALSE(parse_words({"send_recv", "-n", "2", "--iterations", "3", "--warmup", "1", "--no-check"}).wrong);
}

TEST(Arguments, a_table_is_written_by_tune_and_calibrate_only) {
  EXPECT_EQ(parse_words({"--tune", "--table", "t.json"}).arguments->table, "t.json");
  for (const auto& task : {std::vector<std::string>{"all_reduce"}, {"--regret"}, {"all_reduce", "--explain"}})
    EXPECT_THAT(parse_words(with(task, {"--table", "t.json"})).text, HasSubstr("WEFT_TABLE=FILE")) << task.back();
}

TEST(Arguments, what_goes_with_something_that_is_not_there_is_refused) {
  EXPECT_THAT(parse_words({"all_reduce", "--hash-count", "3"}).text, HasSubstr("give --hash, too"));
  EXPECT_EQ(parse_words({"all_reduce", "--hash", "--hash-count", "3"}).arguments->hash_count, 3U);
  EXPECT_THAT(parse_words({"all_reduce", "all_to_all", "--skew", "2"}).text, HasSubstr("--skew is of v-variants"));
  EXPECT_EQ(parse_words({"all_reduce", "all_to_all_v", "--skew", "2"}).arguments->skew, 2);
  EXPECT_EQ(parse_words({"all", "--skew", "2"}).arguments->skew, 2);
  EXPECT_THAT(parse_words({"--soak", "1", "--skew", "2"}).text, HasSubstr("leave it out with --soak"));
  EXPECT_THAT(parse_words({"all_reduce", "--seed", "2"}).text, HasSubstr("--seed goes with --soak"));
}

TEST(Arguments, a_list_is_one_word_and_leaves_the_collective_behind_it_alone) {
  for (const auto& list :
       {std::vector<std::string>{"--hosts", "2,2"}, {"-d", "float32"}, {"-o", "sum,max"}, {"--transport", "shm,ucx"}}) {
    const auto parsed = parse_words(with(list, {"all_reduce"}));
    ASSERT_TRUE(parsed.arguments) << list.front() << ": " << parsed.text;
    EXPECT_THAT(parsed.arguments->collectives, ElementsAre(Kind{Collective::AllReduce}));
  }
  EXPECT_THAT(parse_words({"-d", "float32", "int8", "all_reduce"}).text, HasSubstr("no collective \"int8\""));
}

TEST(Arguments, buffers_are_separate_unless_in_place_is_asked_for) {
  const auto plain = parse_words({"all_reduce"}).arguments;
  EXPECT_TRUE(plain->out_of_place && !plain->in_place);
  const auto in_place = parse_words({"all_reduce", "--in-place"}).arguments;
  EXPECT_TRUE(!in_place->out_of_place && in_place->in_place);
  const auto both = parse_words({"all_reduce", "--in-place", "--out-of-place"}).arguments;
  EXPECT_TRUE(both->out_of_place && both->in_place);
}

TEST(Arguments, results_are_checked_unless_told_otherwise) {
  EXPECT_TRUE(parse_words({"all_reduce"}).arguments->check);
  EXPECT_TRUE(parse_words({"all_reduce", "--check"}).arguments->check);
  EXPECT_FALSE(parse_words({"all_reduce", "--no-check"}).arguments->check);
}

TEST(Arguments, bad_input_is_named_in_one_line) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"all_reduc"}, "there is no collective \"all_reduc\"; choose from all_reduce,"},
      {{"all_reduce", "--dtype", "float99"}, "there is no data type \"float99\""},
      {{"all_reduce", "--op", "plus"}, "there is no reduce op \"plus\""},
      {{"all_reduce", "--min-bytes", "4x"}, "--min-bytes \"4x\" is not a size"},
      {{"all_reduce", "--min-bytes", "1M", "--max-bytes", "1k"}, "--min-bytes 1M is more than --max-bytes 1k"},
      {{"all_reduce", "--max-bytes", "4"}, "--max-bytes 4 is less than 8, where sizes begin without --min-bytes"},
      {{"--soak", "1", "--max-bytes", "0"}, "--max-bytes 0 is less than 8, where sizes begin without --min-bytes"},
      {{"all_reduce", "--min-bytes", "1G"}, "--min-bytes 1G is more than 64M, where sizes end without --max-bytes"},
      {{"broadcast", "--root", "me"}, "--root \"me\" is neither a rank nor \"all\""},
      {{"broadcast", "-n", "2", "--root", "2"}, "--root 2 is not a rank: there are 2"},
      {{"all_reduce", "-n", "0"}, "--ranks"},
      {{"all_reduce", "--fast"}, "--fast"},
      {{"all_reduce", "--channels", "65"}, "--channels"},
      {{"all_reduce", "--quantise", "int4"}, "--quantise \"int4\" is neither int8 nor e4m3"},
      {{"broadcast", "--quantise", "int8"}, "broadcast cannot be quantised"},
      {{"all_gather_v", "--quantise", "int8"}, "all_gather_v cannot be quantised"},
      {{"all_reduce", "--quantise", "int8", "--dtype", "int32"}, "int32 cannot be quantised"},
      {{"all_reduce", "--quantise", "e4m3", "--op", "max"}, "max of quantised numbers is not defined"},
      {{"all_reduce", "--quantise", "e4m3", "--algorithm", "ring"}, "WEFT_ALGORITHMS"},
      {{"--tune", "--quantise", "int8"}, "--quantise goes with measured collectives and --explain: leave it out"},
      {{"all_reduce", "--time-budget", "nan"}, "--time-budget"},
      {{"all_reduce", "--json", ""}, "--json: is empty"},
      {{"all_reduce", "--algorithm", ""}, "--algorithm: is empty"},
      {{""}, "collective: is empty"},
      {{}, "collective"},
  };
  for (const auto& [words, message] : cases) {
    const auto parsed = parse_words(words);
    EXPECT_FALSE(parsed.arguments);
    EXPECT_TRUE(parsed.wrong) << message;
    EXPECT_THAT(parsed.text, HasSubstr(message));
    EXPECT_EQ(parsed.text.find('\n'), std::string::npos) << parsed.text;
  }
}

TEST(Arguments, help_is_no_error) {
  const auto parsed = parse_words({"--help"});
  EXPECT_FALSE(parsed.wrong);
  EXPECT_THAT(parsed.text, HasSubstr("--min-bytes"));
}

TEST(Arguments, an_algorithm_is_asked_for_by_every_collective_of_the_run) {
  Options options;
  apply(*parse_words({"all_reduce", "all_gather", "--algorithm", "ring@4", "--timeout", "5"}).arguments, options);
  EXPECT_EQ(options.algorithms, "all_reduce:ring@4;all_gather:ring@4");
  EXPECT_EQ(options.timeout_ms, 5000);
}

TEST(Arguments, a_timeout_of_the_environment_is_kept) {
  Options options;
  options.timeout_ms = 7000;
  apply(*parse_words({"all_reduce"}).arguments, options);
  EXPECT_EQ(options.timeout_ms, 7000);
}

}  // namespace
}  // namespace weft::bench
