// What topo-probe is given beside good files: it reads what comes through pipes, waits for no one for ever, refuses
// devices, and takes nothing from the environment that is meant for libhwloc.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tests/support/process.hpp"
#include "tests/topology/support/recorded_tree.hpp"

namespace weft::topology {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using weft::test::Outcome;
using weft::test::Process;

constexpr seconds kEndsWithin{30};  // far longer than a pipe is waited for

class PipeInput : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::mkfifo(pipe().c_str(), 0600), 0); }
  std::string pipe() const { return scratch_.root() + "/pipe"; }
  // "PROBE" stands for the program.
  Process shell(std::string script) const {
    for (std::size_t at; (at = script.find("PROBE")) != std::string::npos;)
      script.replace(at, 5, weft::test::program("topo-probe"));
    return Process::start({"bash", "-c", script});
  }
  static void expect_one_line(const Outcome& outcome, const std::string& words) {
    ASSERT_TRUE(outcome.in_time);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
    EXPECT_THAT(outcome.output, testing::StartsWith("topo-probe: "));
    EXPECT_THAT(outcome.output, HasSubstr(words));
  }

  test::RecordedTree scratch_;
};

TEST_F(PipeInput, a_pipe_without_a_writer_is_given_up_wherever_a_file_is_named) {
  std::vector<Process> processes;
  for (const char* arguments : {"--from {}", "--site {}", "--expect {}", "--fabric {}", "diff {} {}"})
    processes.push_back(shell("PROBE " + fmt::format(fmt::runtime(arguments), pipe(), pipe())));
  processes.push_back(shell("PROBE --from /dev/stdin < <(sleep 60)"));
  for (Process& process : processes) expect_one_line(process.wait(kEndsWithin), "nothing came from this pipe for");
}

TEST_F(PipeInput, a_pipe_among_the_dumps_of_a_cluster_is_not_waited_for) {
  ASSERT_EQ(std::system(fmt::format("{} --model dgx-h100 --json --output {}/node.json",
                                    weft::test::program("topo-probe"), scratch_.root())
                            .c_str()),
            0);
  const Outcome outcome = shell("PROBE --cluster --from " + scratch_.root()).wait(kEndsWithin);
  ASSERT_TRUE(outcome.in_time);
  EXPECT_LT(outcome.seconds, 8);  // a pipe that is waited for takes 10 s
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("pipe is no dump; left out"));
}

TEST_F(PipeInput, what_comes_through_a_pipe_is_read) {
  for (const std::string& script :
       {std::string("PROBE --model dgx-h100 --json | PROBE --from /dev/stdin"),
        std::string("PROBE --from <(PROBE --model dgx-h100 --json)"),
        std::string("PROBE --from <(sleep 1; PROBE --model dgx-h100 --json)"),
        std::string("PROBE --from /dev/stdin < <(PROBE --model dgx-h100 --json)"),
        fmt::format("PROBE --model dgx-h100 --json > {0} & PROBE --from {0}", pipe()),
        std::string("PROBE diff --json <(PROBE --model dgx-h100 --json) <(PROBE --model dgx-h100 --json)"),
        std::string("PROBE --from /dev/stdin < tests/topology/data/nccl-two-cpus.xml"),
        std::string("cat tests/topology/data/nccl-two-cpus.xml | PROBE --from /dev/stdin")}) {
    const Outcome outcome = shell(script).wait(kEndsWithin);
    EXPECT_TRUE(outcome.in_time) << script;
    EXPECT_EQ(outcome.exit_code, 0) << script << "\n" << outcome.output;
  }
}

TEST_F(PipeInput, an_archive_may_come_through_a_pipe) {
  scratch_.add_cpus(2, 2);
  const std::string tree = scratch_.root();
  const Outcome outcome =
      shell(fmt::format("tar -cj -C {} sys | PROBE --from /dev/stdin --json | grep -c numa1", tree)).wait(kEndsWithin);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  expect_one_line(
      shell(fmt::format("tar -cj -C {} sys | head -c 200 | PROBE --from /dev/stdin", tree)).wait(kEndsWithin),
      "/dev/stdin: is no archive, or cut");
}

TEST_F(PipeInput, what_never_ends_is_refused) {
  expect_one_line(shell("PROBE --from /dev/zero").wait(kEndsWithin), "/dev/zero: it is a device");
  expect_one_line(shell("PROBE --from /dev/stdin < /dev/zero").wait(kEndsWithin), "it is a device");
  for (const char* option : {"--site", "--expect", "--fabric"})
    expect_one_line(shell(fmt::format("PROBE {} /dev/zero", option)).wait(kEndsWithin), "it is a device");
  expect_one_line(shell("cat /dev/zero | PROBE --from /dev/stdin").wait(kEndsWithin), "longer than 8388608 bytes");
  expect_one_line(shell("yes | PROBE --from /dev/stdin").wait(kEndsWithin), "longer than 8388608 bytes");
  expect_one_line(shell("PROBE --from <(yes)").wait(kEndsWithin), "longer than 8388608 bytes");
}

// libhwloc has something to say of a tree without CPUs, and much if the environment asks for it.
TEST_F(PipeInput, only_topo_probe_writes_to_standard_error) {
  scratch_.write("/tree/sys/bus/pci/devices/x", "");
  for (const char* variables : {"", "HWLOC_HIDE_ERRORS=0", "HWLOC_COMPONENTS_VERBOSE=1 HWLOC_HIDE_ERRORS=0",
                                "HWLOC_XMLFILE=/nonexistent", "HWLOC_SYNTHETIC=nonsense HWLOC_SYNTHETIC_VERBOSE=1"})
    for (const std::string& source : {std::string(), "--root " + scratch_.root() + "/tree"}) {
      SCOPED_TRACE(fmt::format("{} {}", variables, source));
      const Outcome outcome = shell(fmt::format("{} PROBE {} 2>&1 >/dev/null", variables, source)).wait(kEndsWithin);
      EXPECT_EQ(outcome.exit_code, 0);
      EXPECT_EQ(outcome.output, "");
    }
}

}  // namespace
}  // namespace weft::topology
