// Programs that have too little: of open files or memory, or no time since a signal ends them. Nothing is told as if it
// were all, nobody is aborted, nothing is left behind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/sanitizers.hpp"
#include "tests/support/process.hpp"
#include "tests/topology/support/recorded_tree.hpp"
#include "tests/topology/support/tar_text.hpp"

namespace weft::topology {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::TarText;
using testing::HasSubstr;
using weft::test::Outcome;
using weft::test::Process;

// A sanitizer opens files of its own at the end.
constexpr int kFewestFiles = WEFT_ADDRESS_SANITIZER || WEFT_THREAD_SANITIZER ? 8 : 4;

class Shortage : public testing::Test {
 protected:
  void SetUp() override {
    tree_.add_cpus(2, 2);
    const test::RecordedTree::Pci nic = test::RecordedTree::connectx7();
    tree_.add_pci(nic);
    tree_.add_net("eth7", nic, "up", "100000");
    ASSERT_EQ(std::system(fmt::format("tar -cjf {} -C {} sys", archive(), tree_.root()).c_str()), 0);
  }
  void TearDown() override { EXPECT_TRUE(unpacked().empty()) << "an unpacked tree was left behind"; }

  std::string archive() const { return scratch_.root() + "/tree.tar.bz2"; }
  // Trees that are unpacked now.
  std::vector<std::string> unpacked() const {
    std::vector<std::string> trees;
    for (const auto& entry : std::filesystem::directory_iterator(unpacking_.path()))
      trees.push_back(entry.path().string());
    return trees;
  }
  Outcome run(const std::string& limit, const std::string& arguments) const {
    return weft::test::run(
        {"sh", "-c", fmt::format("{}; exec {} {}", limit, weft::test::program("topo-probe"), arguments)},
        {{"TMPDIR", unpacking_.path()}});
  }
  Process reading(const std::string& file) const {
    return Process::start({"env", "--default-signal", weft::test::program("topo-probe"), "--from", file},
                          {{"TMPDIR", unpacking_.path()}});
  }

  static std::string many_files(int count) {
    TarText many;
    for (int i = 0; i < count; ++i) many.file(fmt::format("sys/{}/{}", i / 100, i), "x");
    return many.text();
  }
  void wait_until_it_unpacks() const {
    const auto deadline = steady_clock::now() + seconds(30);
    while (unpacked().empty() && steady_clock::now() < deadline) std::this_thread::yield();
    ASSERT_FALSE(unpacked().empty());
  }

  test::RecordedTree tree_;
  test::RecordedTree scratch_;
  weft::test::TemporaryFolder unpacking_;
};

void expect_one_line(const Outcome& outcome, const std::string& words) {
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
  EXPECT_THAT(outcome.output, testing::StartsWith("topo-probe: "));
  EXPECT_THAT(outcome.output, HasSubstr(words));
}

// Who runs the tests may have left files open to them, so that even libraries cannot be loaded.
bool is_of_loader(const Outcome& outcome) { return outcome.exit_code == 127 || outcome.exit_code == 126; }

TEST_F(Shortage, with_few_open_files_this_machine_is_not_told_in_part) {
  for (int files : {kFewestFiles, kFewestFiles + 1, 8, 12})
    for (const std::string& arguments : {std::string("--audit"), std::string("--json"), std::string("--matrix"),
                                         fmt::format("record {}/out.tar.bz2", scratch_.root())}) {
      SCOPED_TRACE(fmt::format("{} files: {}", files, arguments));
      const Outcome outcome = run(fmt::format("ulimit -n {}", files), arguments);
      if (!is_of_loader(outcome)) expect_one_line(outcome, fmt::format("{} open (ulimit -n)", files));
    }
  EXPECT_FALSE(std::filesystem::exists(scratch_.root() + "/out.tar.bz2"));
}

TEST_F(Shortage, with_few_open_files_a_tree_is_told_whole_or_not_at_all) {
  for (const std::string& source : {"--root " + tree_.root(), "--from " + tree_.root(), "--from " + archive()}) {
    const Outcome whole = run("true", source + " --json");
    ASSERT_EQ(whole.exit_code, 0) << whole.output;
    for (int files = kFewestFiles; files < 40; files += 2) {
      SCOPED_TRACE(fmt::format("{} files: {}", files, source));
      const Outcome outcome = run(fmt::format("ulimit -n {}", files), source + " --json");
      if (outcome.exit_code == 0)
        EXPECT_EQ(outcome.output, whole.output);
      else if (!is_of_loader(outcome))
        expect_one_line(outcome, "open (ulimit -n)");
    }
  }
}

TEST_F(Shortage, a_deep_tree_is_removed_with_few_open_files) {
  std::string deep = "sys";
  for (int i = 0; i < 60; ++i) deep += "/d";
  scratch_.write("/deep.tar", TarText().file(deep + "/x", "x").text());
  expect_one_line(run("ulimit -n 24", fmt::format("--from {}/deep.tar", scratch_.root())), "");
}

// Whatever there is of it, from too little for the loader up to enough.
TEST_F(Shortage, without_memory_a_program_ends_with_one_line) {
  if (WEFT_ADDRESS_SANITIZER || WEFT_THREAD_SANITIZER) GTEST_SKIP() << "sanitizers reserve memory of their own";
  scratch_.write("/large.json", "{\"schema\":1,\"name\":\"" + std::string(900'000, 'x') + "\"");
  const std::string model = fmt::format("--model 'dgx-h100 hosts:64' --json --output {}/model.json", scratch_.root());
  for (const std::string& arguments : {std::string("--audit"), "--from " + archive() + " --json",
                                       "--from " + scratch_.root() + "/large.json", model}) {
    bool reached = false;
    for (int kib = 4'000; kib < 90'000; kib += 1'500) {
      SCOPED_TRACE(fmt::format("{} KiB: {}", kib, arguments));
      const Outcome outcome = run(fmt::format("ulimit -v {}", kib), arguments);
      if (is_of_loader(outcome)) continue;
      EXPECT_EQ(outcome.signal, 0) << outcome.output;
      if (outcome.exit_code == 0) continue;
      expect_one_line(outcome, "");
      reached |= outcome.output.find("ulimit -v") != std::string::npos;
    }
    EXPECT_TRUE(reached) << arguments;
  }
}

TEST_F(Shortage, a_signal_leaves_no_unpacked_tree) {
  scratch_.write("/many.tar", many_files(100'000));  // some seconds of work
  for (int number : {SIGTERM, SIGINT, SIGQUIT}) {
    Process process = reading(scratch_.root() + "/many.tar");
    wait_until_it_unpacks();
    process.signal(number);
    const Outcome outcome = process.wait(seconds(30));
    ASSERT_TRUE(outcome.in_time);
    EXPECT_EQ(outcome.signal, number) << outcome.output;
    EXPECT_TRUE(unpacked().empty());
  }
}

TEST_F(Shortage, a_signal_that_is_ignored_stays_so) {
  scratch_.write("/many.tar", many_files(20'000));
  Process process = Process::start(
      {"env", "--ignore-signal=TERM", weft::test::program("topo-probe"), "--from", scratch_.root() + "/many.tar"},
      {{"TMPDIR", unpacking_.path()}});
  wait_until_it_unpacks();
  process.signal(SIGTERM);
  const Outcome outcome = process.wait(seconds(60));
  ASSERT_TRUE(outcome.in_time);
  EXPECT_EQ(outcome.signal, 0);
}

}  // namespace
}  // namespace weft::topology
