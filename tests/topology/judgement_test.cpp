// topo-probe's --site, --ignore, --expect, --interval and the line for health checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/topology/support/topo_probe.hpp"

namespace weft::topology {
namespace {

using test::expect_one_line;
using test::TopoProbe;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Two GPUs without a near NIC: a warning.
const std::string kFar = "--model 'numa:4 gpu:4 gpus_per_switch:1 nic:2 ndr' ";

TEST_F(TopoProbe, ignored_findings_do_not_show_and_do_not_fail) {
  EXPECT_THAT(run(kFar + "--audit --ignore topo.gpu_without_near_nic").out, StartsWith("no findings"));
  EXPECT_THAT(run(kFar + "--audit --ignore topo.gpu_without_near_nic@gpu2").out, StartsWith("no findings"));
  EXPECT_THAT(run(kFar + "--audit --ignore topo.gpu_without_near_nic@gpu9").out, StartsWith("findings"));
  EXPECT_EQ(run(kFar + "--fail-on warning --ignore net.port_down --ignore topo.gpu_without_near_nic").exit_code, 0);
  expect_one_line(run(kFar + "--ignore topo.gpu_without_near"),
                  "--ignore: no rule has the id \"topo.gpu_without_near\"; near are topo.gpu_without_near_nic");
}

TEST_F(TopoProbe, a_site_file_says_what_is_known) {
  scratch_.write("/site.json", R"({"schema": 1, "ignore": ["topo.gpu_without_near_nic"], "expect": {"gpus": 8}})");
  const std::string out = run(kFar + "--audit --site " + path("site.json")).out;
  EXPECT_THAT(out, HasSubstr("error expect.missing: GPUs 4, expected 8"));
  EXPECT_THAT(out, Not(HasSubstr("near_nic")));
  scratch_.write("/wrong.json", R"({"schema": 1, "ignored": []})");
  expect_one_line(run(kFar + "--site " + path("wrong.json")), "ignored");
  expect_one_line(run(kFar + "--site " + path("none.json")), "none.json");
}

TEST_F(TopoProbe, a_machine_is_compared_with_a_model_or_a_dump) {
  EXPECT_THAT(run("--model dgx-h100 --audit --expect dgx-h100").out, StartsWith("no findings"));
  EXPECT_THAT(run("--model 'dgx-h100 gpu:7' --audit --expect dgx-h100").out,
              HasSubstr("error expect.missing: GPUs 7, expected 8"));
  ASSERT_EQ(run("--model 'dgx-h100 hdr' --json --output " + path("slow.json")).exit_code, 0);
  EXPECT_THAT(run("--from " + path("slow.json") + " --audit --expect dgx-h100").out,
              HasSubstr("warning expect.different: fabric NICs 8 of 8 slower: 25 GB/s, expected 50"));
  EXPECT_THAT(run("--model dgx-h100 --audit --expect " + path("slow.json")).out, StartsWith("no findings"));
  expect_one_line(run("--model dgx-h100 --expect dgx-z9"), "--expect dgx-z9: there is no such file, and no model");
}

TEST_F(TopoProbe, findings_fit_on_one_line_for_a_health_check) {
  EXPECT_EQ(run(kFar + "--format line").out, "warning topo.gpu_without_near_nic gpu0, gpu2\n");
  EXPECT_EQ(run(kFar + "--format line --fail-on error").out, "");
  EXPECT_EQ(run(kFar + "--format line --fail-on warning").exit_code, 1);
  EXPECT_EQ(run("--model dgx-h100 --format line").out, "");
}

TEST_F(TopoProbe, an_interval_looks_at_this_machine_twice) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run("--audit --interval 0.5").exit_code, 0);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
  expect_one_line(run("--model dgx-h100 --interval 1"), "--model excludes --interval");
  expect_one_line(run("--interval 0"), "--interval");
}

}  // namespace
}  // namespace weft::topology
