// Clusters: like nodes are grouped, odd ones named with what differs, silent ones told; and the program over folders
// and over ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/json_writer.hpp"
#include "base/sanitizers.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/topology/support/topo_probe.hpp"
#include "topology/cluster/cluster.hpp"
#include "topology/cluster/likeness.hpp"
#include "topology/locality.hpp"

namespace weft::topology::cluster {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

Survey node_survey(int number) {
  Survey survey;
  survey.graph = *model("dgx-h100");
  survey.source = "model";
  HostFacts& facts = survey.hosts.emplace_back();
  facts.hostname = "node" + std::to_string(number);
  facts.kernel.version = "6.1.0";
  facts.kernel.command_line = "BOOT_IMAGE=/vmlinuz root=UUID=" + std::to_string(number) + " iommu=pt";
  facts.kernel.modules = {"nvidia", "nvidia_peermem"};
  facts.kernel.nvidia_driver = "550.54.15";
  for (int i = 0; i < 8; ++i) {
    DeviceFacts& gpu = facts.devices.emplace_back();
    gpu.node = "gpu" + std::to_string(i);
    gpu.uuid = "GPU-" + std::to_string(number) + "-" + std::to_string(i);
    gpu.driver = "nvidia";
    DeviceFacts& nic = facts.devices.emplace_back();
    nic.node = "nic" + std::to_string(i);
    nic.guid = std::to_string(number * 8 + i);
    nic.firmware = "28.39.1002";
    PortFacts& port = nic.ports.emplace_back();
    port.state = "ACTIVE";
    port.lid = number * 8 + i;
    port.rate_gbs = 50;
    port.errors = {{"symbol_error", static_cast<std::uint64_t>(number)}};
  }
  return survey;
}

ClusterNode node_of(Survey survey) {
  ClusterNode node;
  node.name = *survey.hosts[0].hostname;
  node.survey = std::move(survey);
  return node;
}

std::vector<ClusterNode> nodes_of(int count) {
  std::vector<ClusterNode> nodes;
  for (int i = 1; i <= count; ++i) nodes.push_back(node_of(node_survey(i)));
  return nodes;
}

// As diff names a device of the first node.
std::string graph_name(const ClusterReport& report, std::string_view device) {
  Locality locality(report.nodes.front().survey->graph);
  return locality.describe(*report.nodes.front().survey->graph.find(device));
}

TEST(Likeness, leaves_out_what_differs_between_any_two_nodes) {
  EXPECT_EQ(likeness_of(node_survey(1)), likeness_of(node_survey(2)));
  Survey other = node_survey(2);
  other.hosts[0].kernel.command_line = "root=UUID=2 iommu=off";
  EXPECT_NE(likeness_of(other), likeness_of(node_survey(1)));
  other = node_survey(2);
  other.hosts[0].devices[1].firmware = "28.40.1000";
  EXPECT_NE(likeness_of(other), likeness_of(node_survey(1)));
  other = node_survey(2);
  other.graph.links.back().count += 1;
  EXPECT_NE(likeness_of(other), likeness_of(node_survey(1)));
}

TEST(Cluster, like_nodes_are_one_group) {
  const Result<ClusterReport> report = make_cluster_report(nodes_of(12));
  ASSERT_TRUE(report) << report.status().to_string();
  ASSERT_EQ(report->groups.size(), 1u);
  EXPECT_EQ(report->groups[0].nodes.size(), 12u);
  EXPECT_EQ(name_list(report->nodes, report->groups[0].nodes), "node[1-12]");
  EXPECT_TRUE(report->silent.empty());
  EXPECT_EQ(report->merged.graph.hosts(), 12);
  EXPECT_TRUE(report->merged.graph.check().ok());
}

TEST(Cluster, the_odd_node_is_named_with_what_differs) {
  std::vector<ClusterNode> nodes = nodes_of(5);
  Graph& graph = nodes[2].survey->graph;
  graph.nodes[static_cast<std::size_t>(*graph.find("gpu3"))].pci.width = 8;
  nodes[2].survey->hosts[0].kernel.modules = {"nvidia"};
  const Result<ClusterReport> report = make_cluster_report(std::move(nodes));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->groups.size(), 2u);
  EXPECT_THAT(report->groups[1].changes,
              UnorderedElementsAre(
                  Change{ChangeKind::Changed, graph_name(*report, "gpu3"), "PCIe lanes", "16", "8"},
                  Change{ChangeKind::Changed, "machine", "kernel.modules", "nvidia nvidia_peermem", "nvidia"}));
  const std::string text = cluster_text(*report);
  EXPECT_THAT(text, HasSubstr("1 node unlike these: node3"));
  EXPECT_THAT(text, HasSubstr("  compared with node1:\n"));
  EXPECT_THAT(text, HasSubstr(": PCIe lanes 16 -> 8\n"));
  EXPECT_THAT(text, HasSubstr("warning cluster.odd_node on node3"));
  EXPECT_THAT(text, HasSubstr("unlike node1: changed machine: kernel.modules nvidia nvidia_peermem -> nvidia;"));
  EXPECT_THAT(cluster_prometheus(*report), HasSubstr("weft_cluster_odd{node=\"node3\"} 1\n"));
}

TEST(Cluster, devices_that_are_missing_are_told) {
  std::vector<ClusterNode> nodes = nodes_of(3);
  nodes[0].survey->graph = *model("dgx-h100 gpu:7 nic:9");
  const Result<ClusterReport> report = make_cluster_report(std::move(nodes));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->groups.size(), 2u);
  EXPECT_THAT(cluster_text(*report), HasSubstr("lost     gpu7"));
  EXPECT_THAT(cluster_text(*report), HasSubstr("added    nic8"));
}

TEST(Cluster, devices_of_other_names_are_the_same_devices) {
  std::vector<ClusterNode> nodes = nodes_of(3);
  Graph& graph = nodes[0].survey->graph;
  graph.nodes[static_cast<std::size_t>(*graph.find("nic7"))].name = "nic9";
  nodes[0].survey->hosts[0].devices.back().node = "nic9";
  const Result<ClusterReport> report = make_cluster_report(std::move(nodes));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->groups.size(), 1u) << cluster_text(*report);
}

TEST(Cluster, a_cpu_of_another_model_is_odd) {
  std::vector<ClusterNode> nodes = nodes_of(3);
  for (ClusterNode& node : nodes)
    for (Node& part : node.survey->graph.nodes)
      if (part.kind == NodeKind::Package) part.model = node.name == "node2" ? "Xeon 8462Y+" : "Xeon 8480C";
  const Result<ClusterReport> report = make_cluster_report(std::move(nodes));
  ASSERT_TRUE(report);
  EXPECT_THAT(cluster_text(*report), HasSubstr("changed  package0: CPU model Xeon 8480C -> Xeon 8462Y+\n"));
}

TEST(Cluster, the_same_in_another_order_is_alike) {
  std::vector<ClusterNode> nodes = nodes_of(3);
  std::swap(nodes[1].survey->hosts[0].devices[0], nodes[1].survey->hosts[0].devices[3]);
  const Result<ClusterReport> report = make_cluster_report(std::move(nodes));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->groups.size(), 1u);
  EXPECT_THAT(report->groups[0].nodes, ElementsAre(0u, 1u, 2u));
}

TEST(Cluster, silent_nodes_are_errors_with_their_reason) {
  std::vector<ClusterNode> nodes = nodes_of(2);
  nodes.emplace_back().name = "node10";
  nodes.back().failure = "rank 9 died before it told";
  const Result<ClusterReport> report = make_cluster_report(std::move(nodes));
  ASSERT_TRUE(report);
  EXPECT_THAT(report->silent, ElementsAre(2u));
  EXPECT_THAT(cluster_text(*report), HasSubstr("error cluster.silent_node: node10 rank 9 died before it told"));
  EXPECT_EQ(report->merged.graph.hosts(), 2);
}

TEST(Cluster, findings_of_several_nodes_are_told_once) {
  std::vector<ClusterNode> nodes = nodes_of(4);
  // Two of its GPUs have no near NIC.
  for (ClusterNode& node : nodes) node.survey->graph = *model("numa:4 gpu:4 gpus_per_switch:1 nic:2 ndr");
  const Result<ClusterReport> report = make_cluster_report(std::move(nodes));
  ASSERT_TRUE(report);
  EXPECT_TRUE(std::any_of(report->findings.begin(), report->findings.end(), [](const SharedFinding& shared) {
    return shared.finding.id == "topo.gpu_without_near_nic";
  })) << cluster_text(*report);
  for (const SharedFinding& shared : report->findings) {
    EXPECT_THAT(shared.finding.subject, Not(HasSubstr("host0")));
    EXPECT_EQ(shared.nodes.size(), 4u) << shared.finding.id;
  }
}

TEST(Cluster, a_nodes_own_prefix_is_not_cut_out_of_longer_names) {
  std::vector<ClusterNode> nodes = nodes_of(2);
  for (ClusterNode& node : nodes) {
    HostFacts& facts = node.survey->hosts[0];
    facts.environment = std::vector<Variable>{{"NCCL_SOCKET_IFNAME", "veth,myhost0/x"}};
    facts.interfaces.clear();
    for (const auto& [name, kind] : {std::pair{"veth1", "veth"}, {"eth0", "physical"}}) {
      InterfaceFacts& one = facts.interfaces.emplace_back();
      one.name = name;
      one.kind = kind;
      one.state = "up";
      one.addresses = {"10.0.0.4"};
    }
  }
  const Result<ClusterReport> report = make_cluster_report(std::move(nodes));
  ASSERT_TRUE(report);
  int told = 0;
  for (const SharedFinding& shared : report->findings) {
    if (shared.finding.id != "net.bootstrap_iface") continue;
    ++told;
    EXPECT_THAT(shared.finding.evidence, HasSubstr("myhost0/x"));
    EXPECT_EQ(shared.nodes.size(), 2u);
  }
  EXPECT_EQ(told, 1) << cluster_text(*report);
}

TEST(Cluster, json_reads_back_as_the_merged_cluster) {
  const Result<ClusterReport> report = make_cluster_report(nodes_of(3));
  ASSERT_TRUE(report);
  const Result<Survey> again = survey_from_json(cluster_json(*report));
  ASSERT_TRUE(again) << again.status().to_string();
  EXPECT_EQ(again->graph, report->merged.graph);
  EXPECT_EQ(again->hosts, report->merged.hosts);
}

TEST(Cluster, findings_of_the_cluster_are_ignored_as_others_are) {
  std::vector<ClusterNode> nodes = nodes_of(4);
  nodes[2].survey->hosts[0].kernel.modules = {"nvidia"};
  nodes.emplace_back().name = "node10";
  nodes.back().failure = "rank 9 died before it told";
  const auto ids = [&](const std::vector<std::string>& ignored) {
    audit::Site site;
    for (const std::string& text : ignored) {
      const Result<audit::Ignored> one = audit::parse_ignored(text);
      EXPECT_TRUE(one) << one.status().to_string();
      if (one) site.ignored.push_back(*one);
    }
    std::vector<std::string> all;
    const Result<ClusterReport> report = make_cluster_report(nodes, site);
    for (const SharedFinding& shared : report->findings)
      if (shared.finding.id.starts_with("cluster.")) all.emplace_back(shared.finding.id);
    return all;
  };
  EXPECT_THAT(ids({}), ElementsAre("cluster.silent_node", "cluster.odd_node"));
  EXPECT_THAT(ids({"cluster.silent_node"}), ElementsAre("cluster.odd_node"));
  EXPECT_THAT(ids({"cluster.silent_node@node10", "cluster.odd_node@node3"}), testing::IsEmpty());
  EXPECT_THAT(ids({"cluster.silent_node@node11", "cluster.odd_node@node4"}),
              ElementsAre("cluster.silent_node", "cluster.odd_node"));
  EXPECT_THAT(std::string(audit::parse_ignored("cluster.odd_nodes").status().message()), HasSubstr("cluster.odd_node"));
}

TEST(Cluster, findings_keep_their_reference_and_need_no_node) {
  ClusterReport report;
  SharedFinding& shared = report.findings.emplace_back();
  shared.finding.id = "net.duplicate_address";
  shared.finding.severity = audit::Severity::Error;
  shared.finding.reference = "RFC 5227";
  EXPECT_EQ(json::parse(cluster_json(report))["findings"][0]["reference"], "RFC 5227");
  EXPECT_THAT(cluster_prometheus(report),
              HasSubstr("weft_cluster_findings{id=\"net.duplicate_address\",severity=\"error\"} 1\n"));
}

// What `report` takes of so many nodes. Of several takes the least, because the machine may be busy.
std::chrono::duration<double> merging(std::size_t count, int takes, void (*change)(std::vector<ClusterNode>&)) {
  std::chrono::duration<double> least{1e9};
  for (int take = 0; take < takes; ++take) {
    std::vector<ClusterNode> nodes = nodes_of(static_cast<int>(count));
    change(nodes);
    const auto start = std::chrono::steady_clock::now();
    const Result<ClusterReport> report = make_cluster_report(std::move(nodes));
    if (!report) throw std::runtime_error(report.error().to_string());
    EXPECT_FALSE(cluster_text(*report).empty());
    least = std::min<std::chrono::duration<double>>(least, std::chrono::steady_clock::now() - start);
  }
  return least;
}

// Ten times as many nodes take ten times as long where each is looked at once, and a hundred times where all are
// compared with all. bench/cluster-merge measures it.
constexpr double kGrowth = 40;

TEST(Cluster, what_a_thousand_nodes_take_grows_with_their_number) {
  const auto three_odd = [](std::vector<ClusterNode>& nodes) {
    for (std::size_t odd : {17U, 40U, 99U}) nodes[odd].survey->hosts[0].kernel.nvidia_driver = "535.1";
  };
  EXPECT_LT(merging(1000, 2, three_odd), kGrowth * merging(100, 3, three_odd));
}

TEST(Cluster, what_a_thousand_nodes_take_of_which_no_two_are_alike_grows_with_their_number) {
  const auto all_odd = [](std::vector<ClusterNode>& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      nodes[i].survey->hosts[0].kernel.nvidia_driver = "550." + std::to_string(i);
  };
  EXPECT_LT(merging(1000, 2, all_odd), kGrowth * merging(100, 3, all_odd));
}

TEST(Cluster, of_nodes_of_which_no_two_are_alike_each_is_a_group) {
  std::vector<ClusterNode> nodes = nodes_of(100);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    nodes[i].survey->hosts[0].kernel.nvidia_driver = "550." + std::to_string(i);
  const Result<ClusterReport> report = make_cluster_report(std::move(nodes));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->groups.size(), 100u);
}

TEST(Cluster, odd_ones_are_found_among_a_thousand_nodes) {
  std::vector<ClusterNode> nodes = nodes_of(1000);
  for (std::size_t odd : {17U, 400U, 999U}) nodes[odd].survey->hosts[0].kernel.nvidia_driver = "535.1";
  const Result<ClusterReport> report = make_cluster_report(std::move(nodes));
  ASSERT_TRUE(report);
  EXPECT_THAT(cluster_text(*report), HasSubstr("3 nodes unlike these: node18 node401 node1000"));
}

void write_dump(const std::string& path, const Survey& survey) {
  base::JsonWriter writer;
  writer.begin_object();
  write_survey(writer, survey);
  writer.end_object();
  std::ofstream(path) << std::move(writer).text();
}

using ClusterProgram = topology::test::TopoProbe;

TEST_F(ClusterProgram, reads_a_folder_with_a_dump_of_each_node) {
  const weft::test::TemporaryFolder folder;
  for (int i = 1; i <= 4; ++i) write_dump(folder.path() + "/dump" + std::to_string(i) + ".json", node_survey(i));
  std::ofstream(folder.path() + "/node5.xml") << "<topology";
  const topology::test::Outcome text = run("--cluster --from " + folder.path());
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("4 nodes alike: node[1-4]"));
  EXPECT_THAT(text.out, HasSubstr("silent: node5: "));
  EXPECT_EQ(run("--cluster --fail-on error --from " + folder.path()).exit_code, 1);
  const json report = json::parse(run("--cluster --json --from " + folder.path()).out);
  EXPECT_EQ(report["groups"].size(), 1u);
  EXPECT_EQ(report["silent"][0]["node"], "node5");
  const topology::test::Outcome missing = run("--cluster --from " + folder.path() + "/none");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("is no folder"));
}

TEST_F(ClusterProgram, what_is_no_dump_is_left_out_and_named) {
  const weft::test::TemporaryFolder folder;
  const auto put = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() + "/" + name) << text;
  };
  for (int i = 1; i <= 3; ++i) write_dump(folder.path() + "/dump" + std::to_string(i) + ".json", node_survey(i));
  put("README", "The dumps of last Tuesday.\n");
  put("truth.json", "{\n  \"schema\": \"truth-1\",\n  \"gpus\": 8\n}\n");
  put("list.json", "[1, 2]\n");
  put("page.html", "<!DOCTYPE html><html><topology/></html>\n");
  std::filesystem::create_directories(folder.path() + "/logs/old");
  const topology::test::Outcome text = run("--cluster --fail-on warning --from " + folder.path());
  EXPECT_EQ(text.exit_code, 0) << text.out << text.err;
  EXPECT_THAT(text.out, HasSubstr("cluster: 3 nodes, 1 kind\n"));
  EXPECT_THAT(text.out, Not(HasSubstr("silent")));
  for (const std::string name : {"README", "truth.json", "list.json", "page.html", "logs"})
    EXPECT_THAT(text.out, HasSubstr("info cluster.left_out: " + name + " is no dump; left out\n"));
  EXPECT_EQ(json::parse(run("--cluster --json --from " + folder.path()).out)["silent"], json::array());
  EXPECT_THAT(run("--cluster --ignore cluster.left_out@README --from " + folder.path()).out, Not(HasSubstr("README")));
}

TEST_F(ClusterProgram, what_begins_like_a_dump_and_is_broken_is_a_silent_node) {
  const weft::test::TemporaryFolder folder;
  write_dump(folder.path() + "/dump1.json", node_survey(1));
  const std::vector<std::pair<std::string, std::string>> broken = {
      {"a.json", ""},
      {"b.json", "{"},
      {"c.json", "{\n  \"sche"},
      {"d.json", "{\n  \"schema\": 1,\n  \"packages\": [{\"os_in"},
      {"e.json", "{\"source\": \"hwloc XML\", \"fac"},
      {"f.xml", "<?xml version=\"1.0\"?>\n<topology version=\"2.0\"><object"},
      {"g.xml", "<system version=\"1\"><cpu"},
      {"h.tar.bz2", "BZh91AY&SY"},
  };
  for (const auto& [name, text] : broken) std::ofstream(folder.path() + "/" + name) << text;
  std::filesystem::create_directories(folder.path() + "/i/sys");
  const json report = json::parse(run("--cluster --json --from " + folder.path()).out);
  std::vector<std::string> silent;
  for (const json& node : report["silent"]) silent.push_back(node["node"]);
  EXPECT_THAT(silent, testing::ElementsAre("a", "b", "c", "d", "e", "f", "g", "h", "i"));
  EXPECT_EQ(run("--cluster --fail-on error --from " + folder.path()).exit_code, 1);
}

TEST_F(ClusterProgram, a_folder_without_any_dump_is_an_error) {
  const weft::test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/README") << "nothing yet\n";
  topology::test::expect_one_line(run("--cluster --from " + folder.path()), "holds no dump of a node; README is none");
}

TEST_F(ClusterProgram, refuses_options_that_it_would_have_to_ignore) {
  topology::test::expect_one_line(run("--cluster --fabric x.fabric"), "excludes");
  topology::test::expect_one_line(run("--fabric x.fabric --root /nowhere"), "excludes");
  topology::test::expect_one_line(run("--fabric x.fabric --interval 1"), "excludes");
}

TEST_F(ClusterProgram, tells_the_findings_alone_with_audit) {
  const weft::test::TemporaryFolder folder;
  write_dump(folder.path() + "/dump1.json", node_survey(1));
  std::ofstream(folder.path() + "/node5.xml") << "<topology";
  const topology::test::Outcome found = run("--cluster --audit --from " + folder.path());
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_THAT(found.out, testing::StartsWith("findings\n"));
  EXPECT_THAT(found.out, HasSubstr("error cluster.silent_node: node5 "));
  EXPECT_THAT(found.out, Not(HasSubstr("1 node alike")));
}

#if !WEFT_ADDRESS_SANITIZER && !WEFT_THREAD_SANITIZER
// A thread's stack is as large as the limit says; none fits into the address space here.
TEST_F(ClusterProgram, reads_a_folder_without_threads_where_none_can_start) {
  const weft::test::TemporaryFolder folder;
  for (int i = 1; i <= 4; ++i) write_dump(folder.path() + "/dump" + std::to_string(i) + ".json", node_survey(i));
  const std::string command = "ulimit -s 137438953472 && exec " + weft::test::program("topo-probe") +
                              " --cluster --from " + folder.path() + " >" + path("out") + " 2>" + path("err");
  EXPECT_EQ(std::system(command.c_str()), 0) << topology::test::read_all(path("err"));
  EXPECT_THAT(topology::test::read_all(path("out")), HasSubstr("4 nodes alike: node[1-4]"));
}
#endif

TEST_F(ClusterProgram, reads_recorded_trees_beside_dumps) {
  const weft::test::TemporaryFolder folder;
  write_dump(folder.path() + "/dump1.json", node_survey(1));
  ASSERT_EQ(run("record " + folder.path() + "/here.tar.bz2").exit_code, 0);
  for (const char* copy : {"/there.tar.bz2", "/elsewhere.tar.bz2"})
    std::filesystem::copy_file(folder.path() + "/here.tar.bz2", folder.path() + copy);
  const topology::test::Outcome text = run("--cluster --from " + folder.path());
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("cluster: 4 nodes, 2 kinds\n"));
  EXPECT_THAT(text.out, HasSubstr("3 nodes alike: "));
}

weft::test::Environment rank_of(int rank, int size, int port, const std::string& seconds) {
  return {{"WEFT_RANK", std::to_string(rank)},
          {"WEFT_SIZE", std::to_string(size)},
          {"WEFT_RENDEZVOUS", "127.0.0.1:" + std::to_string(port)},
          {"WEFT_TIMEOUT", seconds}};
}

TEST(ClusterRanks, only_one_rank_of_a_host_surveys_and_rank_0_tells) {
  const int port = weft::test::free_port();
  weft::test::Process other =
      weft::test::Process::start({weft::test::program("topo-probe"), "--cluster"}, rank_of(1, 2, port, "20"));
  const weft::test::Outcome told =
      weft::test::run({weft::test::program("topo-probe"), "--cluster"}, rank_of(0, 2, port, "20"));
  EXPECT_TRUE(told.succeeded()) << told.output;
  EXPECT_THAT(told.output, HasSubstr("cluster: 1 node, 1 kind\n"));
  const weft::test::Outcome answered = other.wait(std::chrono::seconds(20));
  EXPECT_TRUE(answered.succeeded()) << answered.output;
  EXPECT_EQ(answered.output, "");
}

TEST(ClusterRanks, streams_between_hosts_are_measured_both_ways) {
  const int port = weft::test::free_port();
  weft::test::Environment there = rank_of(1, 2, port, "40");
  there["WEFT_HOST_ID"] = "other";
  weft::test::Process other =
      weft::test::Process::start({weft::test::program("topo-probe"), "--cluster", "--measure"}, there);
  const weft::test::Outcome told =
      weft::test::run({weft::test::program("topo-probe"), "--cluster", "--measure"}, rank_of(0, 2, port, "40"));
  EXPECT_TRUE(told.succeeded()) << told.output;
  EXPECT_THAT(told.output, testing::ContainsRegex("tcp: .* to .* \\(rank [01]\\): [0-9.]+ GB/s"));
  EXPECT_THAT(told.output, testing::ContainsRegex("tcp: .* \\(rank [01]\\) to .*: [0-9.]+ GB/s"));
  EXPECT_TRUE(other.wait(std::chrono::seconds(40)).succeeded());
}

TEST(ClusterRanks, one_host_is_measured_and_its_corrected_topology_written) {
  const weft::test::TemporaryFolder folder;
  const std::string file = folder.path() + "/corrected.json";
  const weft::test::Outcome told =
      weft::test::run({weft::test::program("topo-probe"), "--cluster", "--measure", "--write-corrected", file});
  EXPECT_TRUE(told.succeeded()) << told.output;
  const Result<Survey> corrected = load_survey(file);
  ASSERT_TRUE(corrected) << corrected.status().to_string();
  EXPECT_EQ(corrected->graph.hosts(), 1);
  EXPECT_THAT(corrected->measurements, Not(testing::IsEmpty()));
}

TEST(ClusterRanks, a_rank_that_does_not_come_is_named_after_the_deadline) {
  const weft::test::Outcome told =
      weft::test::run({weft::test::program("topo-probe"), "--cluster"}, rank_of(0, 2, weft::test::free_port(), "1"));
  EXPECT_TRUE(told.in_time);
  EXPECT_THAT(told.output, HasSubstr("silent: rank 1: rank 1 did not come for 1 s"));
}

// Whether the process has started another one, as a rank does while it looks its host over.
bool has_child(pid_t process) {
  const std::string parent = std::to_string(process);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name = text.rfind(')');
    if (name != std::string::npos && text.substr(std::min(name + 4, text.size())).starts_with(parent + " "))
      return true;
  }
  return false;
}

TEST(ClusterRanks, a_rank_that_is_killed_while_it_looks_is_named_and_the_others_are_told) {
  const int port = weft::test::free_port();
  const std::vector<std::string> program = {weft::test::program("topo-probe"), "--cluster"};
  weft::test::Environment other = rank_of(1, 3, port, "40");
  other["WEFT_HOST_ID"] = "other";
  weft::test::Environment victim = rank_of(2, 3, port, "40");
  victim["WEFT_HOST_ID"] = "victim";
  victim["WEFT_TEST_NVML_LIBRARY"] = FAKE_NVML;  // hangs, so that there is time to kill it
  victim["WEFT_TEST_VENDOR"] = "hangs";
  weft::test::Process teller = weft::test::Process::start(program, rank_of(0, 3, port, "40"));
  weft::test::Process living = weft::test::Process::start(program, other);
  weft::test::Process dying = weft::test::Process::start(program, victim);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!has_child(dying.pid()) && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  ASSERT_TRUE(has_child(dying.pid()));
  dying.signal(SIGKILL);
  const weft::test::Outcome told = teller.wait(std::chrono::seconds(20));
  EXPECT_TRUE(told.succeeded()) << told.output;
  EXPECT_THAT(told.output, HasSubstr("cluster: 3 nodes, 1 kind, 1 silent\n"));
  EXPECT_THAT(told.output, testing::ContainsRegex("silent: .*: rank 2 died before it told"));
  EXPECT_THAT(told.output, HasSubstr("error cluster.silent_node: "));
  EXPECT_TRUE(living.wait(std::chrono::seconds(20)).succeeded());
}

TEST(ClusterRanks, one_rank_needs_no_launcher) {
  const weft::test::Outcome told = weft::test::run({weft::test::program("topo-probe"), "--cluster"});
  EXPECT_TRUE(told.succeeded()) << told.output;
  EXPECT_THAT(told.output, HasSubstr("cluster: 1 node, 1 kind\n"));
}

}  // namespace
}  // namespace weft::topology::cluster
