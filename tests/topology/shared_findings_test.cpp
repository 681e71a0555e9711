// Findings that hosts have alike are told once, with the hosts that have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/plural.hpp"
#include "topology/audit/shared_findings.hpp"
#include "topology/name_ranges.hpp"

namespace weft::topology::audit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Finding finding(std::string subject, std::string evidence, std::string fix = "mend it",
                Severity severity = Severity::Warning) {
  return {"net.port_down", severity, std::move(subject), std::move(evidence), std::move(fix), "a report"};
}

TEST(SharedFindings, equal_ones_are_one_with_all_their_hosts) {
  const std::vector<SharedFinding> shared =
      share_findings({finding("host0/mlx5_0 (0000:01:00.0)", "beside host0/mlx5_1"),
                      finding("host2/mlx5_0 (0000:01:00.0)", "beside host2/mlx5_1"),
                      finding("host1: this process", "of myhost1/x"), finding("10.0.0.4", "2 hosts have it")},
                     3);
  ASSERT_EQ(shared.size(), 3u);
  EXPECT_EQ(shared[0].finding.subject, "mlx5_0 (0000:01:00.0)");
  EXPECT_EQ(shared[0].finding.evidence, "beside mlx5_1");
  EXPECT_THAT(shared[0].hosts, ElementsAre(0, 2));
  EXPECT_THAT(shared[0].members, ElementsAre(0u, 1u));
  EXPECT_EQ(shared[1].finding.subject, "this process");
  EXPECT_EQ(shared[1].finding.evidence, "of myhost1/x");
  EXPECT_THAT(shared[1].hosts, ElementsAre(1));
  EXPECT_THAT(shared[2].hosts, IsEmpty());
}

TEST(SharedFindings, what_differs_in_any_word_stays_apart) {
  EXPECT_EQ(
      share_findings({finding("host0/a", "x", "bring up host0/b"), finding("host1/a", "x", "bring up host1/b")}, 2)
          .size(),
      1u);
  EXPECT_EQ(share_findings({finding("host0/a", "x", "bring up b"), finding("host1/a", "x", "bring up c")}, 2).size(),
            2u);
  EXPECT_EQ(share_findings({finding("host0/a", "x"), finding("host1/a", "y")}, 2).size(), 2u);
  EXPECT_EQ(share_findings({finding("host0/a", "x", "mend it", Severity::Error), finding("host1/a", "x")}, 2).size(),
            2u);
}

TEST(SharedFindings, hosts_that_there_are_not_are_names) {
  const std::vector<SharedFinding> shared = share_findings({finding("host7/a", "x"), finding("host-1/a", "x")}, 2);
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_EQ(shared[0].finding.subject, "host7/a");
  EXPECT_THAT(shared[0].hosts, IsEmpty());
  EXPECT_EQ(shared[1].finding.subject, "host-1/a");
}

TEST(SharedFindings, of_one_host_all_are_its_own) {
  const std::vector<SharedFinding> shared = share_findings({finding("mlx5_0", "x")}, 1);
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_THAT(shared[0].hosts, ElementsAre(0));
}

TEST(NameRanges, runs_of_three_are_ranges_and_a_dozen_is_enough) {
  EXPECT_EQ(name_ranges({}), "");
  EXPECT_EQ(name_ranges({"node1", "node2"}), "node1 node2");
  EXPECT_EQ(name_ranges({"node1", "node02", "node003"}), "node1 node02 node003");
  EXPECT_EQ(name_ranges({"node8", "node9", "node10"}), "node[8-10]");
  EXPECT_EQ(name_ranges({"node008", "node009", "node010", "login"}), "node[008-010] login");
  std::vector<std::string> many;
  for (int i = 0; i < 40; ++i) many.push_back("node" + std::to_string(2 * i));
  EXPECT_THAT(name_ranges(many), testing::EndsWith("node22 and 28 more"));
}

TEST(Plural, words_take_the_ending_that_they_need) {
  EXPECT_EQ(base::plural(0, "GPU"), "0 GPUs");
  EXPECT_EQ(base::plural(1, "network switch"), "1 network switch");
  EXPECT_EQ(base::plural(2, "network switch"), "2 network switches");
}

}  // namespace
}  // namespace weft::topology::audit
