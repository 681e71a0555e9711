// ctest: serial programs
// weft-bench --calibrate and what goes by it: WEFT_TABLE, --explain, --regret; and --hosts.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "algorithms/measured_table.hpp"
#include "tests/support/bench.hpp"
#include "tests/support/temporary_folder.hpp"

namespace weft::test {
namespace {

using algorithms::MeasuredTable;
using ::testing::HasSubstr;
using ::testing::Not;

Result<MeasuredTable> calibrated(const std::string& file, std::vector<std::string> more) {
  more.insert(more.begin(), {program("weft-bench"), "--calibrate", "--table", file});
  const auto outcome = run(more);
  EXPECT_TRUE(outcome.succeeded()) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("use it with WEFT_TABLE=" + file));
  return MeasuredTable::load(file);
}

std::string explained(const std::string& table) {
  const auto outcome =
      run({program("weft-bench"), "all_reduce", "-n", "2", "--explain", "--min-bytes", "64k", "--max-bytes", "64k"},
          {{"WEFT_TABLE", table}});
  EXPECT_TRUE(outcome.succeeded()) << outcome.output;
  return outcome.output;
}

TEST(CalibrateProgram, writes_what_the_cost_model_of_all_ranks_then_goes_by) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/table.json";
  auto table = calibrated(file, {"-n", "2"});
  ASSERT_TRUE(table.has_value()) << table.error().to_string();
  ASSERT_EQ(table->calibration.hosts.size(), 1U);
  EXPECT_FALSE(table->calibration.network.has_value());
  EXPECT_GT(table->calibration.hosts[0].rates.size(), 3U);
  EXPECT_THAT(explained(file), HasSubstr("rates and latencies are calibrated"));
  EXPECT_THAT(explained(""), Not(HasSubstr("calibrated")));

  // A thousand times as slow as it was measured.
  const auto estimate = [&] {
    const std::string text = explained(file);
    return text.substr(text.find("choice"), text.find('\n', text.find("choice")) - text.find("choice"));
  };
  const std::string before = estimate();
  for (auto& host : table->calibration.hosts) {
    host.call_ps = 7'000'000'000;
    for (auto& rates : host.rates) rates.write = rates.read = rates.reduce = rates.copy = 1;
  }
  std::ofstream(file) << table->to_json();
  EXPECT_THAT(before, HasSubstr(" us expected (cost model)"));
  EXPECT_THAT(estimate(), HasSubstr(" ms expected (cost model)"));
}

TEST(CalibrateProgram, measures_the_links_between_emulated_hosts) {
  const TemporaryFolder folder;
  const auto table = calibrated(folder.path() + "/table.json", {"--hosts", "2,1"});
  ASSERT_TRUE(table.has_value()) << table.error().to_string();
  ASSERT_TRUE(table->calibration.network.has_value());
  EXPECT_EQ(table->calibration.network->hosts.size(), 2U);
  EXPECT_GT(table->calibration.network->latency_ps, 0);
  EXPECT_EQ(table->calibration.hosts.size(), 1U);
}

TEST(CalibrateProgram, what_was_tuned_stays) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/table.json";
  const auto tuned = run({program("weft-bench"), "--tune", "barrier", "-n", "2", "--table", file});
  ASSERT_TRUE(tuned.succeeded()) << tuned.output;
  const auto cells = MeasuredTable::load(file)->cells;
  ASSERT_FALSE(cells.empty());
  EXPECT_EQ(calibrated(file, {"-n", "2"})->cells, cells);
}

TEST(CalibrateProgram, a_file_that_is_not_for_its_measurements_is_refused_and_stays) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/table.json";
  const algorithms::MeasuredCell cell = {Collective::AllReduce, 2, 8, "ring", 1, 5};
  std::ofstream(file) << MeasuredTable{"another", {cell}}.to_json();
  const auto outcome = run({program("weft-bench"), "--calibrate", "--hosts", "1,1", "--table", file});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("--table " + file + ": it holds measurements of another topology (another, "));
  EXPECT_THAT(MeasuredTable::load(file)->cells, ::testing::ElementsAre(cell));
  const auto nowhere = run({program("weft-bench"), "--calibrate", "-n", "2", "--table", "/no/such/folder/table.json"});
  EXPECT_EQ(nowhere.exit_code, 2) << nowhere.output;
  EXPECT_THAT(nowhere.output, HasSubstr("/no/such/folder/table.json"));
}

TEST(CalibrateProgram, one_rank_cannot) {
  const auto outcome = run({program("weft-bench"), "--calibrate", "-n", "1", "--table", "/dev/null"});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("needs at least two ranks"));
}

TEST(ExplainProgram, tells_for_each_size_who_is_chosen_and_who_else_could_be) {
  const auto outcome = run({program("weft-bench"), "all_reduce", "broadcast", "-n", "4", "--explain", "--min-bytes",
                            "8", "--max-bytes", "8M", "--factor", "1024"});
  ASSERT_TRUE(outcome.succeeded()) << outcome.output;
  for (const std::string head :
       {"all_reduce of 8 B on 4 ranks", "all_reduce of 8 MiB on 4 ranks", "broadcast of 8 KiB on 4 ranks"})
    EXPECT_THAT(outcome.output, HasSubstr(head + "\n  choice  "));
  EXPECT_THAT(outcome.output, HasSubstr("  reason  "));
  EXPECT_THAT(outcome.output, HasSubstr("; core of "));
}

TEST(HostsProgram, ranks_on_different_emulated_hosts_do_not_share_memory) {
  const auto outcome = run_bench(briefly({"all_reduce", "all_gather", "--hosts", "1,2"}));
  ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
  EXPECT_EQ(outcome.wrong(), 0);
  EXPECT_THAT(outcome.process.output, HasSubstr("; on 2 emulated hosts: 1, 2"));
  for (const auto& result : outcome.results) EXPECT_EQ(result.at("ranks"), 3);
  // Rank 0 is alone on its host.
  for (const auto& result : outcome.results) EXPECT_EQ(result.at("transport"), "ucx");
}

TEST(HostsProgram, under_a_launcher_it_is_refused) {
  const auto outcome =
      run_bench({"all_reduce", "--hosts", "1,1"}, {},
                {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "1"}});
  EXPECT_EQ(outcome.process.exit_code, 2);
  EXPECT_THAT(outcome.process.output, HasSubstr("--hosts starts ranks itself"));
}

}  // namespace
}  // namespace weft::test
