// ctest: programs
// Whatever stands on topo-probe's command line does something or is refused by name. The table has a row for each
// option and a column for each thing the program can be told to do; a new option fails here until it has a row.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace weft::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kModes[] = {
    "diff",          "record",        "--list-models",       "--cluster",    "--format text",    "--format json",
    "--format html", "--format line", "--format prometheus", "--format dot", "--format nccl-xml"};
constexpr std::size_t kReports = 4;  // the first mode that is one

// 'x': does something there. '-': refused. ' ': decided elsewhere (the parser's own pairs).
struct Row {
  const char* option;
  const char* value;
  const char* effects;  // by mode
};
constexpr Row kRows[] = {
    //                            diff record models cluster | text json html line prometheus dot nccl-xml
    {"--model", "cpu-2socket", "--- xxxxxxx"},
    {"--from", "dump.xml", "---xxxxxxxx"},
    {"--root", "tree", "-x- xxxxxxx"},
    {"--cluster", "", "---xxx  x  "},
    {"--fabric", "net.fabric", "--- xxxxxxx"},
    {"--list-models", "", "-- -       "},
    {"--format", "json", "---x       "},
    {"--json", "", "x--x       "},
    {"--nccl-version", "1", "----------x"},
    {"--output", "report", "x-xxxxxxxxx"},
    {"--matrix", "", "----xxx----"},
    {"--rings", "", "----xxx----"},
    {"--ranks", "2 --rings", "    xxx    "},
    {"--audit", "", "---xxxxxx--"},
    {"--fail-on", "error", "---xxxxxxxx"},
    {"--site", "site.json", "---xxxxxx--"},
    {"--ignore", "net.port_down", "---xxxxxx--"},
    {"--expect", "cpu-2socket", "---xxxxxx--"},
    {"--interval", "1", "--- xxxxx--"},
    {"--bindings", "", "----xx-----"},
    {"--env", "", "----xx-----"},
    {"--measure", "", "---xxxxxx--"},
    {"--write-corrected", "corrected.json --measure", "   xxxxxxxx"},
};

class Options : public ::testing::Test {
 protected:
  Outcome topo_probe(const std::string& arguments) const {
    return run({"sh", "-c", "cd '" + folder_.path() + "' && exec '" + program("topo-probe") + "' " + arguments});
  }
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  // One line, exit status 2.
  void expect_refused(const std::string& arguments, const std::vector<std::string>& words) const {
    const Outcome outcome = topo_probe(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments << "\n" << outcome.output;
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << arguments << "\n" << outcome.output;
    for (const std::string& word : words) EXPECT_THAT(outcome.output, HasSubstr(word)) << arguments;
  }

  TemporaryFolder folder_;
};

std::string command_of(const Row& row, const std::string& mode) {
  const std::string option = std::string(row.option) + " " + row.value;
  if (mode == "diff") return option + " diff before.xml after.xml";
  if (mode == "record") return option + " record out.tar.bz2";
  return option + " " + mode;
}

TEST_F(Options, that_would_be_ignored_are_refused_together_with_what_ignores_them) {
  for (const Row& row : kRows)
    for (std::size_t mode = 0; mode < std::size(kModes); ++mode)
      if (row.effects[mode] == '-')
        expect_refused(command_of(row, kModes[mode]), {row.option, "has no effect with ", kModes[mode]});
}

// Nothing is there that they name: what is complained about is that, or what the mode lacks.
TEST_F(Options, that_have_an_effect_are_not_refused) {
  for (const Row& row : kRows)
    for (std::size_t mode = 0; mode < std::size(kModes); ++mode) {
      const std::string option = row.option;
      if (row.effects[mode] != 'x' || option == "--interval" || option == "--measure" || option == "--write-corrected")
        continue;
      std::string command = command_of(row, kModes[mode]);
      const bool has_source = option == "--from" || option == "--root" || option == "--fabric" || option == "--model" ||
                              option == "--cluster";
      if (mode >= kReports && !has_source) command += " --model cpu-2socket";
      if (option == "--cluster" || std::string(kModes[mode]) == "--cluster") command += " --from nowhere";
      const std::string output = topo_probe(command).output;
      EXPECT_THAT(output, AllOf(Not(HasSubstr("has no effect")), Not(HasSubstr("excludes")))) << command;
    }
}

TEST_F(Options, that_need_another_one_share_its_fate) {
  expect_refused("--rings --ranks 2 --format dot", {"--rings has no effect with --format dot"});
  expect_refused("--measure --write-corrected x --list-models", {"--measure has no effect with --list-models"});
}

TEST_F(Options, are_all_in_the_table) {
  std::set<std::string> known;
  for (const Row& row : kRows) {
    known.insert(row.option);
    EXPECT_EQ(std::string(row.effects).size(), std::size(kModes)) << row.option;
  }
  std::istringstream help(topo_probe("--help").output);
  std::size_t found = 0;
  for (std::string line; std::getline(help, line);) {
    const std::size_t start = line.find("--");
    if (start == std::string::npos || line.find_first_not_of(' ') != start || start > 4) continue;
    const std::string option = line.substr(start, line.find_first_of(" [{", start) - start);
    if (option == "--help" || option == "--version") continue;
    EXPECT_TRUE(known.contains(option)) << option;
    ++found;
  }
  EXPECT_EQ(found, std::size(kRows));
}

TEST_F(Options, of_findings_matter_to_the_exit_status_of_any_form) {
  for (const std::string form : {"dot", "nccl-xml"}) {
    const std::string command = "--expect dgx-h100 --fail-on info --format " + form;
    EXPECT_EQ(topo_probe(command + " --model 'dgx-h100 gpu:7'").exit_code, 1) << form;
    EXPECT_EQ(topo_probe(command + " --model dgx-h100").exit_code, 0) << form;
    expect_refused(command + " --audit", {"--audit has no effect with --format " + form});
  }
}

TEST_F(Options, before_diff_hold_for_it) {
  const std::string before = "'" + std::string("tests/topology/data/diff-host.xml") + "'";
  const auto diff = [&](const std::string& options, const std::string& more) {
    return run({"sh", "-c", program("topo-probe") + " " + options + " diff " + before + " " + before + " " + more});
  };
  EXPECT_THAT(diff("--json", "").output, HasSubstr("\"equal\": true"));
  EXPECT_EQ(diff("--json", "").output, diff("", "--json").output);
  EXPECT_EQ(diff("--output " + at("one"), "").output, "");
  std::ifstream written(at("one"));
  std::string first;
  EXPECT_TRUE(std::getline(written, first) && first.starts_with("before "));
  EXPECT_THAT(diff("--output a", "--output b").output, HasSubstr("--output is given both before and behind diff"));
}

TEST_F(Options, of_record_may_stand_before_it_but_once) {
  EXPECT_THAT(topo_probe("--root nowhere record out.tar.bz2").output, HasSubstr("nowhere"));
  expect_refused("--root a record out.tar.bz2 --root b", {"--root is given both before and behind record"});
}

TEST_F(Options, a_form_of_bindings_that_json_does_not_have_is_refused) {
  for (const std::string form : {"numactl", "mpirun", "torchrun"})
    expect_refused("--model dgx-h100 --json --bindings=" + form,
                   {"--bindings=" + form + " has no effect with --json; give --bindings"});
  EXPECT_EQ(topo_probe("--model dgx-h100 --json --bindings=json").exit_code, 0);
}

TEST_F(Options, of_a_cluster_are_checked_before_it_is_read) {
  expect_refused("--cluster --from nowhere --format html",
                 {"--cluster is written as text, json or prometheus, not as html"});
}

TEST_F(Options, without_a_value_are_refused) {
  for (const std::string option : {"--output", "--from", "--bindings", "--audit", "--format", "--ignore"})
    expect_refused("--model dgx-h100 " + option + "= --json", {option + ": is empty"});
  expect_refused("diff a b --output=", {"--output: is empty"});
  EXPECT_FALSE(std::ifstream(at("--json")).good());
}

TEST_F(Options, an_interval_is_a_number_of_seconds) {
  for (const std::string value : {"nan", "-nan", "NAN", "inf", "-1", "0", "1e999", "1s", "''"})
    expect_refused("--interval " + value, {"--interval"});
}

}  // namespace
}  // namespace weft::test
