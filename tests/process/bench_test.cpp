// ctest: serial programs
// weft-bench runs every collective over local ranks with right results, and says clearly what goes wrong.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support/bench.hpp"
#include "tests/support/temporary_folder.hpp"

namespace weft::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

TEST(Bench, every_collective_is_right_over_shared_memory) {
  const auto outcome =
      run_bench(briefly({"all", "-n", "4", "--transport", "shm", "--root", "all", "--in-place", "--out-of-place"}));
  ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
  EXPECT_EQ(outcome.wrong(), 0);
  EXPECT_EQ(outcome.results.size(), 13u * 3 * 2 + 1);  // three sizes, both places; one barrier
  for (const auto& result : outcome.results) EXPECT_EQ(result.at("transport"), "shm");
  EXPECT_THAT(outcome.process.output, HasSubstr("# Out of bounds values : 0 OK"));
}

TEST(Bench, every_collective_is_right_over_ucx) {
  const auto outcome =
      run_bench(briefly({"all", "-n", "4", "--transport", "ucx", "--root", "all", "--in-place", "--out-of-place"}));
  ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
  EXPECT_EQ(outcome.wrong(), 0);
  for (const auto& result : outcome.results) EXPECT_EQ(result.at("transport"), "ucx");
}

TEST(Bench, every_collective_is_right_with_symmetric_buffers) {
  for (const char* transport : {"shm", "ucx"}) {
    const auto outcome =
        run_bench({"all", "-n", "3", "--transport", transport, "--symmetric", "--in-place", "--out-of-place",
                   "--min-bytes", "100", "--max-bytes", "1M", "--factor", "100", "--iterations", "2"});
    ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
    EXPECT_EQ(outcome.wrong(), 0);
    EXPECT_THAT(outcome.process.output, HasSubstr("; symmetric buffers"));
  }
}

TEST(Bench, random_calls_on_several_threads_at_once_are_right) {
  for (const char* seed : {"1", "2"}) {
    const auto outcome = run({program("weft-bench"), "--soak", "1", "-n", "3", "--max-bytes", "256k", "--seed", seed});
    EXPECT_TRUE(outcome.succeeded()) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(std::string(" calls on 3 threads of each of 3 ranks in 1 s, seed ") + seed));
    EXPECT_THAT(outcome.output, HasSubstr(": 0 wrong"));
  }
}

TEST(Bench, random_calls_are_of_what_is_named_and_of_something) {
  const auto named = run({program("weft-bench"), "--soak", "0.2", "all_reduce", "gather_v", "-n", "2"});
  EXPECT_TRUE(named.succeeded()) << named.output;
  EXPECT_THAT(named.output, HasSubstr(" calls of all_reduce, gather_v on 3 threads"));
  const auto nothing =
      run({program("weft-bench"), "--soak", "0.2", "reduce", "-n", "2", "--dtype", "float32", "--op", "bit_and"});
  EXPECT_EQ(nothing.exit_code, 2) << nothing.output;
  EXPECT_THAT(nothing.output, HasSubstr("nothing to soak"));
}

TEST(Bench, every_type_and_operator_is_right) {
  const auto outcome =
      run_bench({"all_reduce", "reduce_scatter", "-n", "3", "--dtype", "all", "--op", "all", "--min-bytes", "100",
                 "--max-bytes", "100k", "--factor", "1000", "--iterations", "1", "--warmup", "0"});
  ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
  EXPECT_EQ(outcome.wrong(), 0);
}

TEST(Bench, sizes_that_are_no_multiple_of_anything_are_right) {
  const auto outcome = run_bench({"all", "-n", "3", "--dtype", "int8,float32", "--min-bytes", "7", "--max-bytes", "1M",
                                  "--factor", "13", "--iterations", "2", "--warmup", "0"});
  ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
  EXPECT_EQ(outcome.wrong(), 0);
}

TEST(Bench, messages_between_two_ranks_are_timed_and_right) {
  const auto outcome =
      run_bench({"send_recv", "-n", "3", "--max-bytes", "256k", "--factor", "32", "--iterations", "20"});
  ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
  EXPECT_THAT(outcome.process.output, HasSubstr("send_recv between ranks 0 and 2 over shm"));
  EXPECT_EQ(outcome.wrong(), 0);
  EXPECT_EQ(outcome.results.size(), 4U);
  for (const auto& result : outcome.results) EXPECT_GT(result.at("bandwidth_gbs"), 0);
}

TEST(Bench, messages_need_two_ranks_and_stand_by_themselves) {
  const auto alone = run_bench({"send_recv"});
  EXPECT_EQ(alone.process.exit_code, 2);
  EXPECT_THAT(alone.process.output, HasSubstr("send_recv needs two ranks"));
  const auto mixed = run_bench({"send_recv", "barrier", "-n", "2"});
  EXPECT_EQ(mixed.process.exit_code, 2);
  EXPECT_THAT(mixed.process.output, HasSubstr("send_recv is measured by itself"));
}

TEST(Bench, more_ranks_than_cores_work) {
  const auto outcome = run_bench(briefly({"all_reduce", "all_to_all", "barrier", "-n", "8"}));
  ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
  EXPECT_EQ(outcome.wrong(), 0);
}

TEST(Bench, without_a_launcher_there_is_one_rank_and_it_says_so) {
  const auto outcome = run_bench(briefly({"all"}));
  ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
  EXPECT_THAT(outcome.process.output, HasSubstr("one rank: use -n, mpirun, srun or torchrun for more"));
  EXPECT_EQ(outcome.wrong(), 0);
}

TEST(Bench, an_algorithm_that_was_asked_for_is_the_one_that_runs) {
  const auto outcome = run_bench(briefly({"all_reduce", "-n", "4", "--algorithm", "ring@2"}));
  ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
  for (const auto& result : outcome.results) {
    EXPECT_EQ(result.at("algorithm"), "ring");
    EXPECT_EQ(result.at("channels"), 2);
  }
}

TEST(Bench, a_schedule_from_a_file_runs_on_as_many_ranks_as_it_has) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/ring.json";
  const auto exported = run(
      {program("weft-schedule"), "export", "all_reduce/ring", "--ranks", "5", "--format", "json", "--output", file});
  ASSERT_TRUE(exported.succeeded()) << exported.output;
  const auto outcome = run_bench(briefly({"--schedule", file, "--in-place", "--out-of-place"}));
  ASSERT_TRUE(outcome.process.succeeded()) << outcome.process.output;
  EXPECT_EQ(outcome.wrong(), 0);
  ASSERT_FALSE(outcome.results.empty());
  for (const auto& result : outcome.results) {
    EXPECT_EQ(result.at("collective"), "all_reduce");
    EXPECT_EQ(result.at("ranks"), 5);
    EXPECT_EQ(result.at("algorithm"), "file.ring");
  }
  const auto refused = run_bench(briefly({"--schedule", file, "--numerics", "invariant"}));
  EXPECT_EQ(refused.process.exit_code, 2) << refused.process.output;
  EXPECT_THAT(refused.process.output, HasSubstr("reduces in another order than Numerics::Invariant"));
}

TEST(Bench, a_schedule_that_is_wrong_is_refused_with_the_step) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/ring.json";
  const auto exported = run({program("weft-schedule"), "export", "all_reduce/ring", "--ranks", "2", "--output", file});
  ASSERT_TRUE(exported.succeeded()) << exported.output;
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  std::string changed = text.str();
  const std::string chunk = "[\"out\", 0, 1, 1]";
  ASSERT_NE(changed.find(chunk), std::string::npos) << changed;
  changed.replace(changed.find(chunk), chunk.size(), "[\"out\", 0, 0, 1]");
  std::ofstream(file) << changed;
  const auto outcome = run_bench(briefly({"--schedule", file}));
  EXPECT_EQ(outcome.process.exit_code, 2) << outcome.process.output;
  EXPECT_THAT(outcome.process.output, HasSubstr(file + ": all_reduce/ring on 2 ranks: rank "));
}

TEST(Bench, an_unknown_algorithm_is_named_once) {
  const auto outcome = run_bench(briefly({"all_reduce", "-n", "2", "--algorithm", "teleport"}));
  EXPECT_EQ(outcome.process.exit_code, 2) << outcome.process.output;
  EXPECT_THAT(outcome.process.output, HasSubstr("teleport"));
}

TEST(Bench, n_under_a_launcher_is_refused) {
  const auto outcome =
      run_bench({"all_reduce", "-n", "2"}, {},
                {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "1"}});
  EXPECT_EQ(outcome.process.exit_code, 2);
  EXPECT_THAT(outcome.process.output, HasSubstr("leave -n out"));
}

TEST(Bench, a_buffer_that_no_machine_has_is_refused_before_it_starts) {
  const auto outcome = run_bench({"all_reduce", "-n", "4", "--max-bytes", "900T"});
  EXPECT_EQ(outcome.process.exit_code, 2) << outcome.process.output;
  EXPECT_THAT(outcome.process.output, HasSubstr("choose a smaller --max-bytes"));
}

TEST(Bench, an_unwritable_result_file_is_refused_before_it_starts) {
  const auto outcome = run({program("weft-bench"), "all_reduce", "-n", "2", "--json", "/no/such/folder/results.json"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("/no/such/folder/results.json"));
}

// Standard output to `path`, everything else to the outcome.
Outcome run_into(const std::string& path, const std::string& arguments) {
  return run({"sh", "-c", program("weft-bench") + " " + arguments + " 2>&1 >" + path});
}

TEST(Bench, a_table_that_cannot_be_written_stops_all_ranks) {
  const std::string brief = "--min-bytes 8 --max-bytes 8 --time-budget 0.01";
  for (const std::string ranks : {"", "-n 2 "}) {
    const auto outcome = run_into("/dev/full", "all_reduce " + ranks + brief);
    EXPECT_EQ(outcome.exit_code, 2) << ranks;
    EXPECT_EQ(outcome.output, "weft-bench: cannot write to standard output: No space left on device\n") << ranks;
  }
  // At once: all sizes would take a minute.
  EXPECT_LT(run_into("/dev/full", "all_reduce -n 2 --min-bytes 8 --max-bytes 8k --time-budget 5").seconds, 20);
  for (const std::string arguments : {"--help", "--version"}) {
    EXPECT_EQ(run_into("/dev/full", arguments).exit_code, 2) << arguments;
  }
  EXPECT_EQ(run({"sh", "-c", program("weft-bench") + " dance 2>/dev/full"}).exit_code, 2);
}

TEST(Bench, results_follow_a_symbolic_link) {
  const TemporaryFolder folder;
  const auto link = folder.path() + "/link.json";
  std::filesystem::create_symlink("results.json", link);
  const auto outcome =
      run({program("weft-bench"), "all_reduce", "--max-bytes", "8", "--iterations", "1", "--json", link});
  ASSERT_TRUE(outcome.succeeded()) << outcome.output;
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_regular_file(folder.path() + "/results.json"));
}

TEST(Bench, nothing_to_measure_is_an_error) {
  const auto outcome = run_bench(briefly({"all_reduce", "-n", "2", "--dtype", "float32", "--op", "bit_and"}));
  EXPECT_EQ(outcome.process.exit_code, 2) << outcome.process.output;
  EXPECT_THAT(outcome.process.output, HasSubstr("nothing to measure"));
}

TEST(Bench, what_no_communicator_can_be_made_of_is_bad_input) {
  const TemporaryFolder folder;
  const auto broken = folder.path() + "/topology.json";
  std::ofstream(broken) << "{";
  const auto corrupt = run_bench(briefly({"all_reduce", "-n", "2"}), {}, {{"WEFT_TOPOLOGY", broken}});
  EXPECT_EQ(corrupt.process.exit_code, 2) << corrupt.process.output;
  EXPECT_THAT(corrupt.process.output, HasSubstr("not JSON"));
  const auto missing = run_bench(briefly({"all_reduce", "-n", "2"}), {}, {{"WEFT_TOPOLOGY", folder.path() + "/none"}});
  EXPECT_EQ(missing.process.exit_code, 2) << missing.process.output;
  const auto transport = run_bench(briefly({"all_reduce", "-n", "2", "--transport", "pigeon"}));
  EXPECT_EQ(transport.process.exit_code, 2) << transport.process.output;
  EXPECT_THAT(transport.process.output, HasSubstr("pigeon"));
}

// Two ranks that a launcher starts with arguments of their own.
std::vector<Outcome> run_two(const std::string& first, const std::string& second) {
  const Environment job = {{"WEFT_SIZE", "2"}, {"WEFT_RENDEZVOUS", "127.0.0.1:" + std::to_string(free_port())}};
  std::vector<Process> ranks;
  for (const auto& own : {first, second}) {
    auto environment = job;
    environment["WEFT_RANK"] = std::to_string(ranks.size());
    ranks.push_back(Process::start({"sh", "-c", "exec " + program("weft-bench") + " all_reduce --max-bytes 8 " + own},
                                   environment));
  }
  std::vector<Outcome> outcomes;
  for (auto& rank : ranks) outcomes.push_back(rank.wait(60s));
  return outcomes;
}

TEST(Bench, ranks_that_are_given_different_arguments_are_told_both) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"--algorithm ring", "--algorithm direct", "rank 1 was given --algorithm direct, rank 0 ring"},
      {"--channels 2", "", "rank 1 was given --channels 0, rank 0 2"},
      {"", "--transport shm", "rank 1 was given --transport shm, rank 0 none"},
      {"--iterations 3", "--iterations 4", "rank 1 was given --iterations 4, rank 0 3"},
      {"--soak 0.2 --seed 3", "--soak 0.2", "rank 1 was given --seed 1, rank 0 3"},
  };
  for (const auto& [first, second, message] : cases) {
    for (const auto& outcome : run_two(first, second)) {
      EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
      EXPECT_THAT(outcome.output, HasSubstr(message));
    }
  }
  for (const auto& outcome : run_two("--channels 2", "--channels 2 --no-pin")) EXPECT_EQ(outcome.exit_code, 0);
}

TEST(Bench, a_rank_that_has_no_transport_is_named_by_all_at_once) {
  const std::string rendezvous = "127.0.0.1:" + std::to_string(free_port());
  std::vector<Process> ranks;
  for (const std::string ucx_tls : {"tcp,self", "pigeon"}) {
    ranks.push_back(Process::start({program("weft-bench"), "barrier", "--transport", "ucx", "--timeout", "50"},
                                   {{"WEFT_SIZE", "2"},
                                    {"WEFT_RANK", std::to_string(ranks.size())},
                                    {"WEFT_RENDEZVOUS", rendezvous},
                                    {"UCX_TLS", ucx_tls}}));
  }
  for (auto& rank : ranks) {
    const auto outcome = rank.wait(40s);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("rank 1: UCX cannot start"));
  }
}

TEST(Bench, ranks_between_which_nothing_could_start_are_told_how_to_learn_why) {
  const std::string rendezvous = "127.0.0.1:" + std::to_string(free_port());
  std::vector<Process> ranks;
  for (const std::string host : {"left", "right"}) {
    ranks.push_back(Process::start({program("weft-bench"), "barrier", "--timeout", "20"},
                                   {{"WEFT_SIZE", "2"},
                                    {"WEFT_RANK", std::to_string(ranks.size())},
                                    {"WEFT_RENDEZVOUS", rendezvous},
                                    {"WEFT_HOST_ID", host},
                                    {"UCX_TLS", "pigeon"}}));
  }
  for (auto& rank : ranks) {
    const auto outcome = rank.wait(60s);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("rank 0 of the job has shm. Set WEFT_TRANSPORTS=shm,ucx: "));
  }
}

// The ranks that weft-bench started, by its own account: "#   rank   0  host h  pid 123  cpus 0".
std::vector<pid_t> ranks_in(const std::string& output) {
  std::vector<pid_t> pids;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (const auto at = line.find("  pid "); line.starts_with("#   rank") && at != std::string::npos)
      pids.push_back(std::stoi(line.substr(at + 6)));
  }
  return pids;
}

// A zombie counts as gone: its parent may not have reaped it.
bool is_running(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto end = text.rfind(')');
  return end != std::string::npos && text.substr(end + 2, 1) != "Z";
}

Process start_long_bench() {
  return Process::start({program("weft-bench"), "all_reduce", "-n", "4", "--min-bytes", "64k", "--max-bytes", "64k",
                         "--time-budget", "600"});
}

TEST(Bench, an_interrupt_ends_all_ranks) {
  auto bench = start_long_bench();
  ASSERT_TRUE(bench.wait_for_output("busbw", 30s)) << bench.output();
  const auto pids = ranks_in(bench.output());
  ASSERT_EQ(pids.size(), 4u);
  bench.signal(SIGINT);
  const auto outcome = bench.wait(10s);
  ASSERT_TRUE(outcome.in_time);
  EXPECT_EQ(outcome.exit_code, 130);
  for (const auto pid : pids) EXPECT_FALSE(is_running(pid));
}

TEST(Bench, a_killed_rank_ends_the_run_with_an_error_that_names_it) {
  auto bench = start_long_bench();
  ASSERT_TRUE(bench.wait_for_output("busbw", 30s)) << bench.output();
  const auto pids = ranks_in(bench.output());
  ASSERT_EQ(pids.size(), 4u);
  // The others fail for want of it, and all of that is seen at once.
  bench.signal(SIGSTOP);
  kill(pids[2], SIGKILL);
  for (int tries = 0; tries < 1000 && std::any_of(pids.begin(), pids.end(), is_running); ++tries)
    std::this_thread::sleep_for(10ms);
  bench.signal(SIGCONT);
  const auto outcome = bench.wait(10s);
  ASSERT_TRUE(outcome.in_time);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("rank 2 was ended by signal 9"));
  for (const auto pid : pids) EXPECT_FALSE(is_running(pid));
}

TEST(Bench, a_killed_parent_takes_its_ranks_along) {
  auto bench = start_long_bench();
  ASSERT_TRUE(bench.wait_for_output("busbw", 30s)) << bench.output();
  const auto pids = ranks_in(bench.output());
  bench.signal(SIGKILL);
  ASSERT_TRUE(bench.wait(10s).in_time);
  const auto until = std::chrono::steady_clock::now() + 5s;
  for (const auto pid : pids) {
    while (is_running(pid) && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_FALSE(is_running(pid));
  }
}

}  // namespace
}  // namespace weft::test
