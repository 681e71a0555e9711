// weft-schedule as its users run it: exit codes, one line for what is wrong, and files that read back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "algorithms/export.hpp"
#include "tests/support/temporary_folder.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class WeftSchedule : public ::testing::Test {
 protected:
  struct Outcome {
    int code = -1;
    std::string output;  // of both streams
  };

  void SetUp() override {
    const char* bin = std::getenv("WEFT_TEST_BIN");
    ASSERT_NE(bin, nullptr) << "ctest sets WEFT_TEST_BIN to the folder of the programs";
    program_ = std::string(bin) + "/weft-schedule";
  }

  Outcome run(const std::string& arguments) const { return run_shell(program_ + " " + arguments + " 2>&1"); }
  static Outcome run_shell(const std::string& command) {
    Outcome outcome;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return outcome;
    char buffer[4096];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) outcome.output.append(buffer, n);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }

  // Exit code 2, and one line that holds the text.
  void expect_refused(const std::string& arguments, const std::string& text) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_THAT(outcome.output, AllOf(StartsWith("weft-schedule: "), HasSubstr(text))) << arguments;
    EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1) << arguments << ": " << outcome.output;
  }

  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  static std::string contents(const std::string& path) {
    std::ifstream stream(path);
    std::ostringstream text;
    text << stream.rdbuf();
    return std::move(text).str();
  }

  std::string program_;
  test::TemporaryFolder owner_;
  const std::string& folder_ = owner_.path();
};

TEST_F(WeftSchedule, ListNamesEveryAlgorithm) {
  const Outcome text = run("list");
  EXPECT_EQ(text.code, 0);
  for (const Algorithm* algorithm : all_algorithms())
    EXPECT_THAT(text.output,
                HasSubstr(std::string(to_string(algorithm->collective)) + "/" + std::string(algorithm->name)));
  const Outcome json = run("list --json --collective all_reduce");
  EXPECT_EQ(json.code, 0);
  for (const nlohmann::json& entry : nlohmann::json::parse(json.output)) EXPECT_EQ(entry["collective"], "all_reduce");
}

TEST_F(WeftSchedule, ShowPrintsTheStepsOfAllRanksOrOfOne) {
  const Outcome all = run("show all_reduce/ring --ranks 8");
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.output,
              AllOf(StartsWith("all_reduce/ring: 8 ranks"), HasSubstr("\nrank 0,"), HasSubstr("\nrank 7,")));
  const Outcome one = run("show all_reduce/ring --ranks 8 --rank 3 --in-place --channels 2");
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.output,
              AllOf(HasSubstr("\nrank 3, in place"), HasSubstr("  channel 1\n"), Not(HasSubstr("\nrank 4"))));
  EXPECT_THAT(run("show all_reduce/ring --ranks 4 --format dot").output, StartsWith("digraph "));
}

TEST_F(WeftSchedule, AnExportedScheduleIsReadBackAndProved) {
  const Outcome shown = run("export all_reduce/ring --ranks 5 --format json --output " + file("ring.json"));
  EXPECT_EQ(shown.code, 0) << shown.output;
  EXPECT_EQ(shown.output, "");
  const Result<Schedule> schedule = schedule_from_json(contents(file("ring.json")));
  ASSERT_TRUE(schedule.has_value()) << schedule.error().to_string();
  EXPECT_EQ(*schedule, build_schedule(*find_algorithm(Collective::AllReduce, "ring"), flat_group(5), {.uneven = true}));
  for (const std::string how : {"verify ", "verify --from "}) {
    const Outcome proved = run(how + file("ring.json"));
    EXPECT_EQ(proved.code, 0);
    EXPECT_EQ(proved.output,
              "all_reduce/ring on 5 ranks: proved\nas a candidate: all_reduce/file.ring: 5 ranks, 1 "
              "channel; from " +
                  file("ring.json") + "\n");
  }
  EXPECT_EQ(run("show all_reduce/ring --ranks 5 --uneven --format json").output, contents(file("ring.json")));
}

TEST_F(WeftSchedule, ExportsAreBuiltAsAskedFor) {
  EXPECT_EQ(run("export reduce_scatter/ring --ranks 4 --output " + file("uneven.json")).code, 0);
  EXPECT_TRUE(schedule_from_json(contents(file("uneven.json")))->uneven);
  EXPECT_THAT(run("verify " + file("uneven.json")).output, HasSubstr("v-variants"));
  EXPECT_EQ(run("export reduce_scatter/ring --ranks 4 --even --output " + file("even.json")).code, 0);
  EXPECT_FALSE(schedule_from_json(contents(file("even.json")))->uneven);
  EXPECT_THAT(run("verify " + file("even.json")).output, HasSubstr("long calls in one pass"));
  EXPECT_EQ(run("export all_reduce/halving_doubling --ranks 5 --invariant --output " + file("invariant.json")).code, 0);
  EXPECT_THAT(run("verify " + file("invariant.json")).output, HasSubstr(", invariant"));
  expect_refused("export all_gather/ring --ranks 4 --invariant",
                 "--invariant: all_gather/ring reduces in another order");
}

TEST_F(WeftSchedule, AScheduleMayComeThroughAPipe) {
  const std::string exported = program_ + " export all_reduce/ring --ranks 3 | ";
  const Outcome outcome = run_shell(exported + program_ + " verify --from /dev/stdin 2>&1");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.output, StartsWith("all_reduce/ring on 3 ranks: proved\nas a candidate: "));
}

TEST_F(WeftSchedule, ARightScheduleThatNoCommunicatorTakesSaysWhy) {
  Schedule schedule = build_schedule(*find_algorithm(Collective::AllReduce, "ring"), flat_group(3));
  schedule.algorithm = "my ring";
  std::ofstream(file("named.json")) << to_json(schedule);
  const Outcome outcome = run("verify " + file("named.json"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.output,
              AllOf(StartsWith("all_reduce/my ring on 3 ranks: proved\nno candidate: "), HasSubstr("letters, digits")));
}

TEST_F(WeftSchedule, ExplainTakesSchedulesAsCandidates) {
  ASSERT_EQ(run("export all_reduce/ring --ranks 8 --output " + file("ring.json")).code, 0);
  const std::string call = "explain all_reduce --ranks 8 --model dgx-h100 --bytes 64M --schedule " + file("ring.json");
  EXPECT_THAT(run(call).output, HasSubstr("file.ring, 1 channel"));
  const Outcome named = run(call + " --algorithms all_reduce:file.ring");
  EXPECT_EQ(named.code, 0);
  EXPECT_THAT(named.output, HasSubstr("choice  file.ring, 1 channel"));
  EXPECT_THAT(run("explain all_reduce --ranks 4 --model dgx-h100 --bytes 64M --schedule " + file("ring.json")).output,
              ::testing::ContainsRegex("cannot  file.ring +is for 8 ranks"));
  expect_refused("explain all_reduce --ranks 4 --model dgx-h100 --bytes 1M --schedule " + file("missing.json"),
                 "cannot read");
}

TEST_F(WeftSchedule, AWrongScheduleFailsItsProof) {
  Schedule schedule = build_schedule(*find_algorithm(Collective::AllReduce, "ring"), flat_group(4));
  schedule.ranks[2].channels[0].pop_back();
  std::ofstream(file("wrong.json")) << to_json(schedule);
  const Outcome outcome = run("verify " + file("wrong.json"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.output, AllOf(StartsWith("FAILED all_reduce/ring on 4 ranks: "), HasSubstr("step ")));
  expect_refused("explain all_reduce --ranks 4 --model dgx-h100 --bytes 1M --schedule " + file("wrong.json"),
                 "wrong.json: all_reduce/ring on 4 ranks: ");
}

TEST_F(WeftSchedule, AWaitOfAStepThatNeverWaitsIsNotFollowed) {
  Schedule schedule = build_schedule(*find_algorithm(Collective::AllReduce, "ring"), flat_group(5));
  schedule.ranks[0].channels[0][0].wait = 65535;
  std::ofstream(file("wait.json")) << to_json(schedule);
  const Outcome outcome = run("verify " + file("wait.json"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(
      outcome.output,
      "FAILED all_reduce/ring on 5 ranks: rank 0, channel 0, step 0 (Send to rank 1) has \"wait\", of which a Send "
      "makes no use; leave it out\n");
}

TEST_F(WeftSchedule, VerifyCountsWhatItProved) {
  const Outcome outcome = run("verify all_reduce/ring --ranks 1-4,7 --channels 1,2 --ranks-per-host 2");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, StartsWith("20 schedules proved, 0 failed, 0 not supported, in "));
  const Outcome roots = run("verify broadcast/binomial --ranks 3,5 --roots all");
  EXPECT_EQ(roots.code, 0) << roots.output;
  EXPECT_THAT(roots.output, StartsWith("16 schedules proved"));
}

TEST_F(WeftSchedule, VerifyDoesWithoutThreadsWhereTheSystemGivesNone) {
  // A new thread's stack is as large as the limit, here as the address space.
  const Outcome outcome =
      run_shell("ulimit -s 137438953472 && " + program_ + " verify all_reduce/ring --ranks 1-4 2>&1");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, StartsWith("8 schedules proved, 0 failed"));
}

TEST_F(WeftSchedule, VerifyProvesTheWholeTable) {
  const Outcome outcome = run("verify --all --ranks 1-9 --ranks-per-host 1-4 --jobs 2");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr(" schedules proved, 0 failed, "));
}

TEST_F(WeftSchedule, SimulateSaysHowLongAndWhatBinds) {
  const Outcome text = run("simulate all_reduce/ring --ranks 8 --model dgx-h100 --bytes 64M");
  EXPECT_EQ(text.code, 0) << text.output;
  EXPECT_THAT(text.output, AllOf(StartsWith("all_reduce/ring of 64 MiB on 8 ranks of dgx-h100, 1 channel\n"),
                                 HasSubstr("GB/s on the bus\n"), HasSubstr("\nbound by    ")));
  const Outcome json = run("simulate all_reduce/ring --ranks 8 --model dgx-h100 --bytes 64M --format json");
  EXPECT_GT(nlohmann::json::parse(json.output)["makespan_ps"].get<std::int64_t>(), 0);
  const Outcome trace =
      run("simulate all_reduce/ring --ranks 4 --model 'gpu:4 nvswitch:450' --bytes 1M --format chrome --output " +
          file("trace.json"));
  EXPECT_EQ(trace.code, 0) << trace.output;
  EXPECT_GT(nlohmann::json::parse(contents(file("trace.json")))["traceEvents"].size(), 24U);
}

TEST_F(WeftSchedule, SimulateTakesATopologyFileOrProbesThisMachine) {
  const Result<topology::Graph> graph = topology::model("gpu:4 nvswitch:300");
  std::ofstream(file("machine.json")) << topology::to_json(*graph);
  const Outcome from_file = run("simulate all_gather/ring --ranks 4 --bytes 1M --topology " + file("machine.json"));
  EXPECT_EQ(from_file.code, 0) << from_file.output;
  const Outcome probed = run("simulate all_reduce/ring --ranks 1 --bytes 1M");
  EXPECT_EQ(probed.code, 0) << probed.output;
}

TEST_F(WeftSchedule, ExplainNamesTheWinnerAndTheOthers) {
  const Outcome text = run("explain all_reduce --ranks 8 --model dgx-h100 --bytes 64M");
  EXPECT_EQ(text.code, 0) << text.output;
  EXPECT_THAT(text.output, AllOf(StartsWith("all_reduce of 64 MiB on 8 ranks\n  choice  "), HasSubstr("\n  reason  "),
                                 HasSubstr("\n  also ")));
  const Outcome forced =
      run("explain all_reduce --ranks 8 --model dgx-h100 --bytes 64M --json --algorithms 'all_reduce:1m-:ring@2'");
  const nlohmann::json json = nlohmann::json::parse(forced.output);
  EXPECT_EQ(json["source"], "override");
  EXPECT_EQ(json["candidates"][0]["algorithm"], "ring");
  EXPECT_EQ(json["candidates"][0]["channels"], 2);
  EXPECT_EQ(run("explain broadcast --ranks 4 --model cpu-2socket --bytes 4k --root 3 --dtype bf16").code, 0);
}

TEST_F(WeftSchedule, EqualRunsPrintEqualText) {
  const std::string arguments = "explain all_reduce --ranks 8 --model dgx-h100 --bytes 300000";
  EXPECT_EQ(run(arguments).output, run(arguments).output);
}

TEST_F(WeftSchedule, BadInputIsOneLineAndExitCode2) {
  expect_refused("", "subcommand");
  expect_refused("dance", "dance");
  expect_refused("show", "ALGO is required");
  expect_refused("show ring --ranks 8", "\"ring\" is not COLLECTIVE/NAME");
  expect_refused("show all_reduc/ring --ranks 8", "there is no collective \"all_reduc\"; known: all_reduce");
  expect_refused("show all_reduce/rong --ranks 8", "there is no all_reduce algorithm \"rong\"; known: ");
  expect_refused("show all_reduce/ring --ranks 0", "--ranks 0");
  expect_refused("show all_reduce/ring --ranks 4 --rank 4", "--rank 4");
  expect_refused("show broadcast/binomial --ranks 4 --root 4", "root 4");
  expect_refused("show all_reduce/ring --ranks 4 --format xml", "xml");
  expect_refused("show all_reduce/ring --ranks 4 --output " + file("no/such/folder"), "cannot write");
  expect_refused("verify", "one of ALGO, FILE.json, --all and --from");
  expect_refused("verify --all --ranks 3-1", "\"3-1\"");
  expect_refused("verify --all --ranks 1,,2", "\"1,,2\"");
  expect_refused("verify --from " + file("missing.json"), "cannot read");
  expect_refused("simulate all_reduce/ring --ranks 9 --model dgx-h100 --bytes 64M", "9");
  expect_refused("simulate all_reduce/ring --ranks 8 --model dgx-h1000 --bytes 64M", "dgx-h1000");
  expect_refused("simulate all_reduce/ring --ranks 8 --model dgx-h100 --bytes 64Q", "\"64Q\" is not a size");
  expect_refused("simulate all_reduce/ring --ranks 8 --model dgx-h100 --topology x --bytes 64M", "--model");
  expect_refused("explain all_reduce --ranks 8 --model dgx-h100 --bytes 64M --algorithms all_reduce:x:ring",
                 "\"x\" is not a range");
  expect_refused("explain all_reduce --ranks 8 --model dgx-h100 --bytes 64M --dtype float32 --op bit_and",
                 "float32 cannot be reduced");
  std::ofstream(file("bad.json")) << "{";
  expect_refused("verify --from " + file("bad.json"), "not JSON at line 1, column 2");
}

TEST_F(WeftSchedule, RanksAndChannelsThatCannotBeAreRefused) {
  expect_refused("show all_reduce/ring --ranks 4 --rank -1", "--rank -1 is not one of the 4 ranks");
  expect_refused("show all_reduce/ring --ranks 4 --channels 65", "--channels 65 is not from 0 to 64");
  expect_refused("show all_reduce/ring --ranks 4 --channels -1", "--channels -1 is not from 0 to 64");
  expect_refused("simulate all_reduce/ring --ranks 4 --model dgx-h100 --bytes 1M --channels 65", "--channels 65");
  expect_refused("explain all_reduce --ranks 4 --model dgx-h100 --bytes 1M --channels 65", "--channels 65");
  expect_refused("verify all_reduce/ring --ranks 4 --channels 65", "\"65\" is not a list of numbers and ranges");
}

TEST_F(WeftSchedule, AnEmptyValueIsNotTakenForNone) {
  expect_refused("verify --from ''", "--from: is empty");
  expect_refused("verify ''", "ALGO: is empty");
  expect_refused("list --collective ''", "--collective: is empty");
  expect_refused("show all_reduce/ring --ranks 4 --output ''", "--output: is empty");
  expect_refused("simulate all_reduce/ring --ranks 4 --bytes 1M --model ''", "--model: is empty");
  expect_refused("explain all_reduce --ranks 4 --bytes 1M --table ''", "--table: is empty");
}

TEST_F(WeftSchedule, InputThatIsNoFileOrTooLongIsRefused) {
  expect_refused("verify --from " + folder_, "it is a folder; give the name of a file");
  expect_refused("verify --from /dev/zero", "it is a device; give the name of a file");
  std::ofstream(file("long.json")) << "{";
  std::filesystem::resize_file(file("long.json"), (std::uintmax_t{256} << 20) + 1);  // a hole: takes no room
  for (const char* arguments : {"verify --from ", "explain all_reduce --ranks 4 --bytes 1M --model dgx-h100 --table "})
    expect_refused(arguments + file("long.json"), "is longer than 268435456 bytes");
  // A topology that is not Weft's own may be 8 MiB long.
  expect_refused("simulate all_reduce/ring --ranks 4 --bytes 1M --topology " + file("long.json"),
                 "is longer than 8388608 bytes");
  const std::string endless = "sh -c 'yes | head -c 268435457' | " + program_ + " verify --from /dev/stdin 2>&1";
  const Outcome outcome = run_shell(endless);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("is longer than 268435456 bytes"));
}

TEST_F(WeftSchedule, NumbersThatAreTooLargeAreNamedInOurWords) {
  std::ofstream(file("table.json")) << R"({"schema": 1, "fingerprint": "x", "cells": [{"bytes": 1e400}]})";
  expect_refused("explain all_reduce --ranks 4 --bytes 1M --model dgx-h100 --table " + file("table.json"),
                 "measured table: the number 1e400 at line 1, column ");
}

TEST_F(WeftSchedule, OutputThatCannotBeWrittenIsAnError) {
  for (const char* arguments : {"list", "list --json", "show all_reduce/ring --ranks 4",
                                "explain all_reduce --ranks 4 "
                                "--bytes 1M --model dgx-h100",
                                "verify all_reduce/ring --ranks 2", "--help", "--version"}) {
    const Outcome outcome = run_shell(program_ + " " + arguments + " 2>&1 >/dev/full");
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_EQ(outcome.output, "weft-schedule: cannot write to standard output: No space left on device\n") << arguments;
  }
  EXPECT_EQ(run_shell(program_ + " dance 2>/dev/full").code, 2);
  expect_refused("show all_reduce/ring --ranks 4 --output " + folder_, "it is a folder; give the name of a file");
}

TEST_F(WeftSchedule, HelpSaysEverything) {
  EXPECT_EQ(run("--help").code, 0);
  const Outcome all = run("--help-all");
  EXPECT_EQ(all.code, 0);
  for (const char* word :
       {"list", "show", "verify", "simulate", "explain", "--model", "--algorithms", "--format", "--jobs", "Exit codes"})
    EXPECT_THAT(all.output, HasSubstr(word));
  EXPECT_THAT(run("simulate --help").output, HasSubstr("in bytes, as nccl-tests counts it: 8, 4k, 64M, 1G"));
  EXPECT_EQ(run("--version").code, 0);
}

}  // namespace
}  // namespace weft::algorithms
