// ctest: serial programs
// weft-bench --tune and --regret, and WEFT_TABLE.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "algorithms/selector.hpp"
#include "tests/support/bench.hpp"
#include "tests/support/temporary_folder.hpp"

namespace weft::test {
namespace {

using algorithms::MeasuredCell;
using algorithms::MeasuredTable;
using ::testing::HasSubstr;

Outcome tune(const std::string& file) {
  return run(
      {program("weft-bench"), "--tune", "all_reduce", "broadcast", "-n", "2", "--max-bytes", "512", "--table", file});
}

std::string content(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(TuneProgram, writes_a_table_by_which_calls_are_chosen) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/table.json";
  const auto tuned = tune(file);
  ASSERT_TRUE(tuned.succeeded()) << tuned.output;
  EXPECT_THAT(tuned.output, HasSubstr("WEFT_TABLE=" + file));
  auto table = MeasuredTable::from_json(content(file));
  ASSERT_TRUE(table.has_value()) << table.error().to_string();
  ASSERT_FALSE(table->cells.empty());

  // Whatever is fastest in the table is taken, on both ranks.
  for (MeasuredCell& cell : table->cells) cell.time_ns = cell.algorithm == "ring" ? 1 : 1000;
  std::ofstream(file) << table->to_json();
  const auto run = run_bench(briefly({"all_reduce", "-n", "2"}), {}, {{"WEFT_TABLE", file}});
  ASSERT_TRUE(run.process.succeeded()) << run.process.output;
  for (const auto& result : run.results) EXPECT_EQ(result.at("algorithm"), "ring");
}

TEST(TuneProgram, keeps_what_a_file_that_is_no_table_holds) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/notes.txt";
  std::ofstream(file) << "not a table\n";
  const auto tuned = tune(file);
  EXPECT_EQ(tuned.exit_code, 2) << tuned.output;
  EXPECT_THAT(tuned.output, HasSubstr("--table " + file));
  EXPECT_EQ(content(file), "not a table\n");
}

TEST(TuneProgram, a_table_that_cannot_be_written_is_refused_before_anything_is_measured) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/table.json";
  std::ofstream(file) << MeasuredTable{"another", {{Collective::AllReduce, 2, 8, "ring", 1, 5}}}.to_json();
  for (const std::string& table : {std::string("/no/such/folder/table.json"), folder.path(), file}) {
    // To measure would take minutes.
    const auto tuned = run({program("weft-bench"), "--tune", "all_reduce", "-n", "2", "--max-bytes", "512",
                            "--time-budget", "60", "--table", table});
    EXPECT_EQ(tuned.exit_code, 2) << tuned.output;
    EXPECT_THAT(tuned.output, ::testing::StartsWith("weft-bench: --table " + table + ": "));
    EXPECT_LT(tuned.seconds, 20);
  }
}

TEST(RegretProgram, writes_a_cell_for_each_call) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/regret.json";
  const auto outcome =
      run({program("weft-bench"), "--regret", "all_reduce", "-n", "2", "--max-bytes", "512", "--json", file});
  ASSERT_TRUE(outcome.succeeded()) << outcome.output;
  const auto json = nlohmann::json::parse(std::ifstream(file));
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_LE(json.at("cells").size(), 4u);  // 8, 32, 128, 512, those that could be judged
  for (const auto& cell : json.at("cells")) {
    EXPECT_EQ(cell.at("collective"), "all_reduce");
    EXPECT_GE(cell.at("regret"), 0);
  }
}

TEST(TuneProgram, algorithms_are_not_given_where_they_are_compared) {
  const auto outcome = run({program("weft-bench"), "--tune", "-n", "2", "--algorithm", "ring"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("--tune and --regret compare all"));
  const auto uneven = run({program("weft-bench"), "--regret", "all_to_all_v", "-n", "2"});
  EXPECT_EQ(uneven.exit_code, 2);
  EXPECT_THAT(uneven.output, HasSubstr("all_to_all_v is chosen as all_to_all is"));
}

TEST(TuneProgram, what_it_would_ignore_is_refused) {
  for (const char* task : {"--tune", "--regret"}) {
    const auto outcome = run({program("weft-bench"), task, "all_reduce", "-n", "2", "--iterations", "3"});
    EXPECT_EQ(outcome.exit_code, 2) << task;
    EXPECT_THAT(outcome.output, HasSubstr("--iterations goes with measured collectives and send_recv"));
  }
}

}  // namespace
}  // namespace weft::test
