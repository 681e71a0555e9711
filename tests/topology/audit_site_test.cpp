// The site file: what it says counts, and what is wrong in it is told with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/json_writer.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/topology/support/audit_cases.hpp"
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string error_of(std::string_view text) {
  return std::string(site_from_json("site.json", text).status().message());
}

TEST(Site, a_whole_file_is_read) {
  const Result<Site> site = site_from_json("site.json", R"({
    "schema": 1,
    "thresholds": {"shm_bytes": 268435456, "memlock_bytes": 1, "remote_pages_percent": 25, "measured_percent": 50.5,
                   "correctable_per_hour": 0, "port_errors_per_hour": 1e3},
    "expect": {"gpus": 8, "nics": 8, "numa_nodes": 2, "nic_gbs": 50,
               "nvlinks": [{"device": "10de:2330", "nvlinks": 18}]},
    "ignore": ["net.port_down", "pcie.link_downgraded@gpu3"]
  })");
  ASSERT_TRUE(site.has_value()) << site.error().to_string();
  EXPECT_EQ(site->thresholds, (Thresholds{268435456, 1, 25, 50.5, 0, 1000}));
  EXPECT_EQ(site->expected, (Expectations{8, 8, 2, 50, {{"10de:2330", 18}}}));
  EXPECT_EQ(site->ignored, (std::vector<Ignored>{{"net.port_down", ""}, {"pcie.link_downgraded", "gpu3"}}));
  EXPECT_EQ(*site_from_json("site.json", R"({"schema": 1})"), Site());
}

TEST(Site, what_is_wrong_is_told_with_its_place) {
  EXPECT_THAT(error_of("{"), HasSubstr("site.json: not JSON at line 1"));
  EXPECT_THAT(error_of("{}"), HasSubstr("lacks \"schema\""));
  EXPECT_THAT(error_of(R"({"schema": 2})"), HasSubstr("schema is not"));
  EXPECT_THAT(error_of(R"({"schema": 1, "treshold": {}})"), HasSubstr("treshold"));
  EXPECT_THAT(error_of(R"({"schema": 1, "thresholds": {"shm": 1}})"), HasSubstr("shm"));
  EXPECT_THAT(error_of(R"({"schema": 1, "thresholds": {"measured_percent": 101}})"),
              HasSubstr("thresholds.measured_percent is not from 0 to 100"));
  EXPECT_THAT(error_of(R"({"schema": 1, "thresholds": {"shm_bytes": -1}})"), HasSubstr("thresholds.shm_bytes"));
  EXPECT_THAT(error_of(R"({"schema": 1, "expect": {"gpus": "8"}})"), HasSubstr("expect.gpus"));
  EXPECT_THAT(error_of(R"({"schema": 1, "expect": {"nvlinks": [{"device": "H100", "nvlinks": 18}]}})"),
              HasSubstr("expect.nvlinks[0].device is not vendor:device"));
  EXPECT_THAT(error_of(R"({"schema": 1, "ignore": ["net.portdown"]})"),
              AllOf(HasSubstr("ignore[0]"), HasSubstr("near are net.port_down")));
}

TEST(Site, unknown_ids_are_refused_and_near_ones_named) {
  const auto error = [](std::string_view text) { return std::string(parse_ignored(text).status().message()); };
  EXPECT_THAT(error("pcie.acs"), HasSubstr("no rule has the id \"pcie.acs\""));
  EXPECT_THAT(error("pcie.acs_redirct@gpu0"), HasSubstr("near are pcie.acs_redirect"));
  EXPECT_THAT(error("port_down"), HasSubstr("net.port_down"));
  EXPECT_THAT(error("memlock-limit-low"), HasSubstr("no rule has the id"));
  EXPECT_THAT(error("net.port_down@"), HasSubstr("has no subject behind its @"));
  EXPECT_THAT(error(std::string(10'000, 'x')), HasSubstr("docs/audit.md lists them"));
  EXPECT_THAT(error("topo.socket\nnic"), StartsWith("no rule has the id \"topo.socket-nic\"")) << "one line";
  EXPECT_THAT(error("net\n@"), StartsWith("\"net-@\" has no subject"));
  EXPECT_EQ(*parse_ignored("net.port_down@mlx5_0@1"), (Ignored{"net.port_down", "mlx5_0@1"}));
}

TEST(Site, ignored_findings_are_left_out_whole_or_by_subject) {
  Machine machine("packages:2 gpu:2 gpus_per_switch:1 nic:2 ndr");
  for (const char* nic : {"nic0", "nic1"}) {
    machine.add_port(nic, PciLink{32.0, 16, 32.0, 16});
    machine.node(nic).pci.gts = 16;
    machine.node(nic).network_gbs = 25;
  }
  machine.node("nic0").bus_id = "0000:10:00.0";
  const auto subjects = [&](std::string_view ignored) {
    Site site;
    if (!ignored.empty()) site.ignored.push_back(*parse_ignored(ignored));
    std::vector<std::string> found;
    for (const Finding& finding : audit(machine, site)) found.push_back(finding.subject);
    return found;
  };
  EXPECT_THAT(subjects(""), testing::ElementsAre("nic0 (0000:10:00.0)", "nic1"));
  EXPECT_THAT(subjects("pcie.link_downgraded"), IsEmpty());
  EXPECT_THAT(subjects("pcie.link_downgraded@nic0"), testing::ElementsAre("nic1"));
  EXPECT_THAT(subjects("pcie.link_downgraded@0000:10:00.0"), testing::ElementsAre("nic1"));
  EXPECT_THAT(subjects("pcie.link_downgraded@nic0 (0000:10:00.0)"), testing::ElementsAre("nic1"));
  EXPECT_EQ(subjects("pcie.link_downgraded@nic").size(), 2u);
  EXPECT_EQ(subjects("net.port_down").size(), 2u);
}

TEST(Site, a_byte_order_mark_says_nothing) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/site.json") << "\xef\xbb\xbf{\"schema\": 1, \"expect\": {\"gpus\": 8}}";
  const Result<Site> site = load_site(folder.path() + "/site.json");
  ASSERT_TRUE(site) << site.status().to_string();
  EXPECT_EQ(site->expected.gpus, 8);
}

TEST(Site, a_missing_file_is_named) {
  EXPECT_THAT(std::string(load_site("/nonexistent/site.json").status().message()), HasSubstr("/nonexistent/site.json"));
}

// A row of docs/audit.md, as it should be.
std::string row(const Rule& rule) {
  return "| `" + std::string(rule.id) + "` | " + std::string(to_string(rule.severity)) + " | " +
         std::string(rule.summary) + " | " + std::string(rule.silent) + " | " + std::string(rule.reference) + " |";
}

TEST(Documentation, lists_every_rule_as_it_is) {
  std::ifstream file("docs/audit.md");
  ASSERT_TRUE(file.good());
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("| `") &&
        line.find("` | info | ") + line.find("` | warning | ") + line.find("` | error | ") != 3 * std::string::npos)
      rows.push_back(line);
  std::vector<std::string> expected;
  for (const Rule* rule : rules()) expected.push_back(row(*rule));
  EXPECT_EQ(rows.size(), expected.size());
  for (const std::string& one : expected) EXPECT_THAT(rows, testing::Contains(one));
}

}  // namespace
}  // namespace weft::topology::audit
