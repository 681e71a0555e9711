// Two surveys of one machine: how devices are matched, and what is told of them.
#include "topology/diff/diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/topology/support/topo_probe.hpp"
#include "topology/export/nccl_xml.hpp"
#include "topology/import/import.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

using nlohmann::json;
using test::expect_one_line;
using test::Outcome;
using test::TopoProbe;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kHost = "tests/topology/data/diff-host.xml";
constexpr const char* kGuest = "tests/topology/data/diff-guest.xml";

Survey survey_of_file(const std::string& path) {
  Result<Survey> survey = load_survey(path);
  EXPECT_TRUE(survey) << survey.status().to_string();
  return survey ? std::move(survey).value() : Survey();
}

Survey survey_of_model(std::string_view line) {
  Survey survey;
  survey.graph = model(line).value();
  survey.source = "model";
  survey.hosts.resize(static_cast<std::size_t>(survey.graph.hosts()));
  return survey;
}

Node& node(Survey& survey, std::string_view name) {
  return survey.graph.nodes.at(static_cast<std::size_t>(survey.graph.find(name).value()));
}

DeviceFacts& facts(Survey& survey, const std::string& name) {
  survey.hosts.at(0).devices.emplace_back().node = name;
  return survey.hosts.at(0).devices.back();
}

InterfaceFacts interface(const std::string& name, int mtu) {
  InterfaceFacts facts;
  facts.name = name;
  facts.mtu = mtu;
  return facts;
}

PortFacts port(const std::string& state, std::uint64_t errors) {
  PortFacts facts;
  facts.state = state;
  facts.errors = {{"symbol_error", errors}};
  return facts;
}

std::vector<std::string> words(const SurveyDiff& diff) {
  std::vector<std::string> words;
  for (const Change& change : diff.changes)
    words.push_back(std::string(to_string(change.kind)) + " " + change.subject + ": " + change.what + ": " +
                    change.before + " -> " + change.after);
  return words;
}

std::vector<std::string> matches(const Survey& before, const Survey& after) {
  std::vector<std::string> words;
  for (const DeviceMatch& match : diff_surveys(before, after).matches)
    words.push_back(before.graph.nodes[static_cast<std::size_t>(match.before)].name + " is " +
                    after.graph.nodes[static_cast<std::size_t>(match.after)].name + " by " + std::string(match.by));
  return words;
}

TEST(Diff, a_machine_is_equal_to_itself_in_every_dialect) {
  const Survey model = survey_of_model("dgx-h100");
  EXPECT_THAT(words(diff_surveys(model, model)), IsEmpty());
  EXPECT_THAT(words(diff_surveys(model, read_nccl_xml("again", *to_nccl_xml(model)).value())), IsEmpty());
  for (const char* name : {"2xp100-one-plx-switch-cx5.xml", "tioga-8gcd-mi250x-4xslingshot.xml"}) {
    const Survey hwloc = survey_of_file(std::string("tests/topology/data/") + name);
    EXPECT_THAT(words(diff_surveys(hwloc, hwloc)), IsEmpty());
    EXPECT_THAT(words(diff_surveys(hwloc, read_nccl_xml("again", *to_nccl_xml(hwloc)).value())), IsEmpty()) << name;
  }
}

TEST(Diff, the_guest_dump_lost_the_switch_that_the_host_dump_shows) {
  const Survey host = survey_of_file(kHost);
  const Survey guest = survey_of_file(kGuest);
  const std::vector<std::string> told = words(diff_surveys(host, guest));
  EXPECT_THAT(told, Contains("lost switch-0000:10:00.0 (0000:10:00.0): PCIe switch: above gpu0, gpu1, mlx5_0 -> "));
  EXPECT_THAT(told, Contains("lost switch-0000:90:00.0 (0000:90:00.0): PCIe switch: above gpu2, mlx5_1 -> "));
  EXPECT_THAT(told, Contains("changed gpu0 to mlx5_0 and 2 more: GPU to NIC path: PIX -> PHB"));
  EXPECT_THAT(told, Contains("changed gpu1 to gpu0: nvlink links: 12 -> 8"));
  EXPECT_THAT(told, Contains("changed gpu1 (0000:12:00.0): PCIe lanes: 16 -> 8"));
  EXPECT_THAT(told, Contains("changed gpu0 (0000:11:00.0): gpu_direct: yes -> no"));
  // The other way round, it was added.
  EXPECT_THAT(words(diff_surveys(guest, host)),
              Contains(HasSubstr("added switch-0000:10:00.0 (0000:10:00.0): PCIe switch")));
}

TEST(Diff, nics_are_matched_by_their_guids_though_the_guest_renumbers) {
  const std::vector<std::string> told = matches(survey_of_file(kHost), survey_of_file(kGuest));
  EXPECT_THAT(told, Contains("mlx5_0 is mlx5_1 by card"));
  EXPECT_THAT(told, Contains("mlx5_1 is mlx5_0 by card"));
}

TEST(Diff, devices_are_matched_by_uuid_guid_and_mac_before_anything_else) {
  Survey before = survey_of_model("packages:1 gpu:2 nic:2 ndr");
  Survey after = before;
  facts(before, "gpu0").uuid = "GPU-aaaa";
  facts(before, "gpu1").uuid = "GPU-bbbb";
  facts(after, "gpu0").uuid = "GPU-BBBB";
  facts(after, "gpu1").uuid = "GPU-aaaa";
  facts(before, "nic0").guid = "0c42:a103:0056:f8a4";
  facts(after, "nic1").guid = "0x0c42a1030056f8a4";
  EXPECT_THAT(matches(before, after), ElementsAre("gpu0 is gpu1 by uuid", "gpu1 is gpu0 by uuid",
                                                  "nic0 is nic1 by guid", "nic1 is nic0 by structure"));
}

TEST(Diff, renumbered_devices_without_ids_are_matched_by_where_they_stand) {
  Survey before = survey_of_model("packages:2 gpu:2 nic:1 ndr");
  Survey after = before;
  int bus = 1;
  for (Survey* survey : {&before, &after})
    for (Node& of : survey->graph.nodes)
      if (of.kind == NodeKind::Gpu) of.bus_id = "0000:0" + std::to_string(bus++) + ":00.0";
  // Only the second GPU stands beside the NIC: numbered the other way round, it is still the one.
  std::swap(node(after, "gpu0").name, node(after, "gpu1").name);
  EXPECT_THAT(matches(before, after), Contains("gpu1 is gpu0 by structure"));
}

TEST(Diff, a_lost_device_is_told_and_the_others_keep_their_buses) {
  const Survey before = survey_of_file(kHost);
  Survey after = before;
  const int gone = after.graph.find("gpu1").value();
  std::erase_if(after.graph.links, [&](const Link& link) { return link.a == gone || link.b == gone; });
  after.graph.nodes[static_cast<std::size_t>(gone)].kind = NodeKind::PciBridge;
  after.graph.nodes[static_cast<std::size_t>(gone)].bus_id.clear();
  const int parent = after.graph.nodes[static_cast<std::size_t>(gone)].parent;
  after.graph.connect(parent, gone, LinkKind::Pci, 1, 1, "assumed");
  const std::vector<std::string> told = words(diff_surveys(before, after));
  ASSERT_EQ(told.size(), 1u) << testing::PrintToString(told);
  EXPECT_THAT(told[0], testing::StartsWith("lost gpu1 (0000:12:00.0): device:"));
  EXPECT_THAT(matches(before, after), Contains("gpu2 is gpu2 by bus id"));
}

TEST(Diff, facts_of_hosts_and_devices_are_compared_and_counters_are_not) {
  Survey before = survey_of_model("packages:1 gpu:1 nic:1 ndr");
  Survey after = before;
  before.hosts[0].kernel.version = "6.1";
  after.hosts[0].kernel.version = "6.5";
  before.hosts[0].kernel.nvidia_driver = "550";
  before.hosts[0].interfaces = {interface("eth0", 9000), interface("eth1", 9000)};
  after.hosts[0].interfaces = {interface("eth0", 1500)};
  facts(before, "gpu0").clock_mhz = 1980;
  facts(after, "gpu0").clock_mhz = 345;
  facts(before, "nic0").ports = {port("ACTIVE", 1)};
  facts(after, "nic0").ports = {port("DOWN", 99)};
  EXPECT_THAT(words(diff_surveys(before, after)),
              ElementsAre("changed host0: interfaces[eth0].mtu: 9000 -> 1500",
                          "changed host0: kernel.version: 6.1 -> 6.5", "lost host0: interfaces[eth1]: there -> ",
                          "lost host0: kernel.nvidia_driver: 550 -> ", "changed nic0: ports[1].state: ACTIVE -> DOWN"));
}

TEST(Diff, what_one_side_cannot_know_is_no_difference) {
  Survey before = survey_of_model("packages:2 gpu:2 nic:1 ndr");
  Survey after = before;
  before.hosts[0].kernel.version = "6.1";
  before.hosts[0].kernel.numa_balancing = true;
  after.source = "hwloc XML";
  after.hosts[0].kernel.version = "6.1";
  node(after, "gpu0").pci = {};
  EXPECT_THAT(words(diff_surveys(before, after)), IsEmpty());
}

TEST(Diff, devices_that_a_source_cannot_show_are_not_lost) {
  const Survey whole = survey_of_model("packages:2 gpu:2 nic:2 ndr");
  Survey rocm = survey_of_model("packages:2 gpu:2");
  EXPECT_THAT(words(diff_surveys(whole, rocm)), Contains(HasSubstr("lost nic0: device")));
  rocm.source = kRocmSmi;
  EXPECT_THAT(words(diff_surveys(whole, rocm)), Not(Contains(HasSubstr("device"))));
  EXPECT_THAT(words(diff_surveys(rocm, whole)), Not(Contains(HasSubstr("device"))));
  Survey bare = survey_of_model("packages:2");
  EXPECT_THAT(words(diff_surveys(whole, bare)), Contains(HasSubstr("lost gpu0: device")));
  bare.source = "hwloc XML 2";
  EXPECT_THAT(words(diff_surveys(whole, bare)), IsEmpty());
}

TEST(Diff, hosts_are_matched_by_name) {
  Survey before = survey_of_model("dgx-h100 hosts:3");
  Survey after = survey_of_model("dgx-h100 hosts:2");
  for (int host = 0; host < 3; ++host)
    before.hosts[static_cast<std::size_t>(host)].hostname = "n" + std::to_string(host);
  after.hosts[0].hostname = "n2";
  after.hosts[1].hostname = "n0";
  const std::vector<std::string> told = words(diff_surveys(before, after));
  EXPECT_THAT(told, Contains("lost host1: host: there -> "));
  EXPECT_THAT(told, Not(Contains(HasSubstr("hostname"))));
}

TEST_F(TopoProbe, diff_says_equal_with_0_different_with_1_and_bad_input_with_2) {
  const std::string files = std::string(kHost) + " " + kGuest;
  const Outcome different = run("diff " + files);
  EXPECT_EQ(different.exit_code, 1) << different.err;
  EXPECT_THAT(different.out,
              HasSubstr("lost     switch-0000:10:00.0 (0000:10:00.0): PCIe switch above gpu0, gpu1, mlx5_0\n"));
  EXPECT_THAT(different.out, HasSubstr("  mlx5_0 at 0000:13:00.0 is mlx5_1 at 0000:08:00.0\n"));
  const Outcome equal = run(std::string("diff ") + kHost + " " + kHost);
  EXPECT_EQ(equal.exit_code, 0);
  EXPECT_THAT(equal.out, HasSubstr("no difference in what both know\n"));
  expect_one_line(run(std::string("diff ") + kHost + " /nonexistent"), "/nonexistent");
  expect_one_line(run(std::string("diff ") + kHost), "AFTER is required");
  expect_one_line(run("diff '' x"), "is empty");
}

TEST_F(TopoProbe, diff_as_json_holds_matches_and_changes) {
  const std::string arguments = std::string("diff ") + kHost + " " + kGuest + " --json --output " + path("d.json");
  EXPECT_EQ(run(arguments).exit_code, 1);
  const json diff = json::parse(test::read_all(path("d.json")));
  EXPECT_EQ(diff["schema"], 1);
  EXPECT_EQ(diff["equal"], false);
  EXPECT_EQ(diff["matches"].size(), 5u);
  EXPECT_EQ(diff["before"]["path"], kHost);
  const auto lost = std::find_if(diff["changes"].begin(), diff["changes"].end(),
                                 [](const json& change) { return change["what"] == "PCIe switch"; });
  ASSERT_NE(lost, diff["changes"].end());
  EXPECT_EQ((*lost)["kind"], "lost");
  EXPECT_EQ((*lost)["after"], nullptr);
}

// Hosts are numbered by their nodes, not by the order in which their machines stand.
TEST(Diff, machines_need_not_stand_in_the_order_of_hosts) {
  Survey before;
  before.graph = *model("dgx-h100 hosts:2");
  for (Node& node : before.graph.nodes)
    if (node.kind == NodeKind::Machine) node.cores = node.host == 0 ? 96 : 112;
  for (Node& node : before.graph.nodes)
    if (node.kind == NodeKind::Gpu && node.host == 0) node.pci.width = 8;
  Survey after = before;
  for (Node& node : after.graph.nodes)
    if (node.host >= 0) node.host = 1 - node.host;
  ASSERT_TRUE(after.graph.check().ok()) << after.graph.check().to_string();
  EXPECT_THAT(diff_surveys(before, after).changes, IsEmpty());
  EXPECT_THAT(diff_surveys(after, after).changes, IsEmpty());
  for (Node& node : after.graph.nodes)
    if (node.kind == NodeKind::Machine && node.host == 0) node.cores = 100;
  const SurveyDiff diff = diff_surveys(before, after);
  ASSERT_EQ(diff.changes.size(), 1u);
  EXPECT_EQ(diff.changes[0].subject, "host1");
  EXPECT_EQ(diff.changes[0].before, "112");
}

TEST(Diff, a_number_of_links_that_one_side_does_not_tell_is_no_difference) {
  const auto with_links = [](int count) {
    Survey survey = survey_of_model("gpu:2");
    const std::vector<int> gpus = survey.graph.ids(NodeKind::Gpu);
    if (count >= 0) survey.graph.connect(gpus[0], gpus[1], LinkKind::Xgmi, 50, 1, "sysfs", count);
    survey.source = "model";
    return survey;
  };
  const auto changes = [&](int before, int after) {
    std::vector<std::string> told;
    for (const Change& change : diff_surveys(with_links(before), with_links(after)).changes)
      if (change.what == "xgmi links") told.push_back(change.before + " -> " + change.after);
    return told;
  };
  EXPECT_THAT(changes(0, 4), IsEmpty());
  EXPECT_THAT(changes(4, 0), IsEmpty());
  EXPECT_THAT(changes(4, 2), ElementsAre("4 -> 2"));
  EXPECT_THAT(changes(0, -1), ElementsAre("unknown -> "));
  EXPECT_THAT(changes(-1, 0), ElementsAre(" -> unknown"));
}

}  // namespace
}  // namespace weft::topology
