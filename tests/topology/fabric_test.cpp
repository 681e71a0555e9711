// Networks between hosts: what model words, fabric files and listings of ibnetdiscover give, and the paths across them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/sanitizers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "topology/fabric/fabric.hpp"
#include "topology/path_finder.hpp"
#include "topology/rates.hpp"
#include "topology/sharing.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;

constexpr const char* kData = "tests/topology/data/fabric/";

Graph machine_of(std::string_view line) {
  Result<Graph> graph = model(line);
  EXPECT_TRUE(graph) << graph.status().to_string();
  return graph ? std::move(graph).value() : Graph();
}

std::string refusal(std::string_view line) {
  const Result<Graph> graph = model(line);
  return graph ? "accepted" : std::string(graph.error().message());
}

std::string file_refusal(std::string_view text) {
  const Result<Survey> survey = read_fabric("f", text);
  return survey ? "accepted" : std::string(survey.error().message());
}

std::vector<std::string> switches_of(const Graph& graph, const Path& path) {
  std::vector<std::string> names;
  int at = path.from;
  for (const Hop& hop : path.hops) {
    const Link& link = graph.links[static_cast<std::size_t>(hop.link)];
    at = hop.forward ? link.b : link.a;
    const Node& node = graph.nodes[static_cast<std::size_t>(at)];
    if (node.kind == NodeKind::NetworkSwitch) names.push_back(node.name);
  }
  return names;
}

Path path_of(const Graph& graph, std::string_view from, std::string_view to) {
  return graph.best_path(graph.find(from).value(), graph.find(to).value());
}

TEST(Fabric, rail_k_of_a_group_meets_at_its_own_leaf) {
  const Graph graph = machine_of("dgx-h100 hosts:4 fabric:rail leaf_hosts:2");
  ASSERT_TRUE(graph.check().ok()) << graph.check().to_string();
  EXPECT_EQ(graph.ids(NodeKind::NetworkSwitch).size(), 2u * 8 + 1);
  EXPECT_THAT(switches_of(graph, path_of(graph, "host0/gpu3", "host1/gpu3")), testing::ElementsAre("leaf0-rail3"));
  EXPECT_THAT(switches_of(graph, path_of(graph, "host0/gpu3", "host2/gpu3")),
              testing::ElementsAre("leaf0-rail3", "spine0", "leaf1-rail3"));
  EXPECT_THAT(switches_of(graph, path_of(graph, "host0/nic3", "host1/nic4")),
              testing::ElementsAre("leaf0-rail3", "spine0", "leaf0-rail4"));
}

TEST(Fabric, rails_that_meet_nowhere_are_changed_inside_a_host_only) {
  const Graph graph = machine_of("dgx-h100 hosts:2 fabric:rail-only leaf_hosts:1");
  EXPECT_THAT(switches_of(graph, path_of(graph, "host0/nic0", "host1/nic0")),
              testing::ElementsAre("leaf0-rail0", "spine0-rail0", "leaf1-rail0"));
  EXPECT_THAT(switches_of(graph, path_of(graph, "host0/nic0", "host1/nic1")),
              testing::ElementsAre("leaf0-rail1", "spine0-rail1", "leaf1-rail1"));
  EXPECT_EQ(path_of(graph, "leaf0-rail0", "leaf0-rail1").path_class, PathClass::None);
}

TEST(Fabric, a_tree_of_three_levels_meets_at_leaf_pod_or_core) {
  const Graph graph = machine_of("dgx-h100 hosts:8 fabric:tree levels:3 leaf_hosts:2 pod_hosts:4 oversubscription:7");
  ASSERT_TRUE(graph.check().ok());
  EXPECT_THAT(switches_of(graph, path_of(graph, "host0/gpu0", "host1/gpu0")), testing::ElementsAre("leaf0"));
  EXPECT_THAT(switches_of(graph, path_of(graph, "host0/gpu0", "host2/gpu0")),
              testing::ElementsAre("leaf0", "spine0", "leaf1"));
  EXPECT_THAT(switches_of(graph, path_of(graph, "host0/gpu0", "host7/gpu0")),
              testing::ElementsAre("leaf0", "spine0", "core0", "spine1", "leaf3"));
}

TEST(Fabric, oversubscription_narrows_the_way_up_that_all_share) {
  // 4 hosts x 8 x 50 GB/s below each spine, a seventh of it above.
  const Graph graph = machine_of("dgx-h100 hosts:8 fabric:tree levels:3 leaf_hosts:2 pod_hosts:4 oversubscription:7");
  PathFinder finder(graph);
  LinkLoads loads(graph);
  std::vector<Path> paths;
  for (int host = 0; host < 4; ++host)
    for (int gpu = 0; gpu < 8; ++gpu) {
      const std::string tail = "/gpu" + std::to_string(gpu);
      paths.push_back(finder.best_path(*graph.find("host" + std::to_string(host) + tail),
                                       *graph.find("host" + std::to_string(host + 4) + tail)));
      loads.add(paths.back());
    }
  const LinkLoads::Share share = loads.narrowest(paths.front());
  EXPECT_NEAR(share.gbs, 50.0 / 7, 1e-9);
  EXPECT_EQ(share.paths, 32);
  const Link& link = graph.links[static_cast<std::size_t>(share.hop.link)];
  EXPECT_EQ(graph.nodes[static_cast<std::size_t>(link.a)].name, "spine0");
  EXPECT_EQ(graph.nodes[static_cast<std::size_t>(link.b)].name, "core0");
  ASSERT_FALSE(loads.shared(4).empty());
  EXPECT_EQ(loads.shared(4).front().hop, share.hop);
}

TEST(Fabric, the_oversubscribed_link_binds_a_single_path_too) {
  const Graph graph = machine_of("gpu:1 nic:1 ndr hosts:4 fabric:tree leaf_hosts:2 oversubscription:4");
  const Path path = path_of(graph, "host0/gpu0", "host3/gpu0");
  EXPECT_DOUBLE_EQ(path.bandwidth_gbs, 25);
  EXPECT_EQ(graph.links[static_cast<std::size_t>(path.binding_link)].kind, LinkKind::Network);
}

TEST(Fabric, many_targets_give_what_single_paths_give) {
  const Graph graph = machine_of("dgx-a100 hosts:6 fabric:rail leaf_hosts:2");
  std::vector<int> all(graph.nodes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  for (int from : {*graph.find("host0/gpu3"), *graph.find("spine0"), *graph.find("leaf1-rail2")}) {
    const std::vector<Path> paths = graph.best_paths(from, all);
    for (int to : all)
      EXPECT_EQ(paths[static_cast<std::size_t>(to)].hops.size(), graph.best_path(from, to).hops.size());
  }
}

TEST(Fabric, words_that_do_not_fit_are_refused) {
  EXPECT_THAT(refusal("hosts:2 levels:2"), HasSubstr("add fabric:tree"));
  EXPECT_THAT(refusal("hosts:2 fabric:ring"), HasSubstr("flat, tree, rail"));
  EXPECT_THAT(refusal("hosts:2 fabric:tree levels:4"), HasSubstr("1 to 3"));
  EXPECT_THAT(refusal("hosts:2 fabric:tree leaf_hosts:2 pod_hosts:3"), HasSubstr("multiple"));
  EXPECT_THAT(refusal("hosts:2 fabric:tree levels:2 pod_hosts:4"), HasSubstr("levels:3"));
  EXPECT_THAT(refusal("hosts:2 fabric:tree oversubscription:0.5"), HasSubstr("oversubscription"));
  EXPECT_THAT(refusal("hosts:2 fabric:tree oversubscription:1,2,3"), HasSubstr("two numbers"));
}

TEST(FabricFile, builds_the_largest_cluster_fast) {
  const auto start = std::chrono::steady_clock::now();
  const Result<Survey> survey = load_fabric(std::string(kData) + "llama3.fabric");
  const auto took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(survey) << survey.status().to_string();
  EXPECT_EQ(survey->graph.ids(NodeKind::Gpu).size(), 16384u);
  EXPECT_EQ(survey->graph.ids(NodeKind::NetworkSwitch).size(), 1024u + 6 + 1);
  EXPECT_EQ(survey->graph.name, "llama3");
  const Path path = path_of(survey->graph, "host0/gpu0", "host2047/gpu7");
  EXPECT_DOUBLE_EQ(path.bandwidth_gbs, 50);
  EXPECT_EQ(switches_of(survey->graph, path).size(), 5u);
#if !WEFT_ADDRESS_SANITIZER && !WEFT_THREAD_SANITIZER
  EXPECT_LT(took, std::chrono::seconds(2));
#endif
}

TEST(FabricFile, says_the_same_as_the_words_of_a_model) {
  const Result<Survey> survey = read_fabric(
      "f", "weft-fabric 1\nhosts 8 of dgx-h100\nrails # joined above\nleaf hosts 2 oversubscription 2\nlevels 2\n");
  ASSERT_TRUE(survey) << survey.status().to_string();
  EXPECT_EQ(fingerprint(survey->graph),
            fingerprint(machine_of("dgx-h100 hosts:8 fabric:rail leaf_hosts:2 oversubscription:2")));
}

TEST(FabricFile, joins_hosts_that_come_from_elsewhere) {
  Survey hosts;
  hosts.graph = machine_of("dgx-a100 hosts:4");
  const Result<Survey> joined = read_fabric("f", "weft-fabric 1\nlevels 2\nleaf hosts 2\n", hosts);
  ASSERT_TRUE(joined) << joined.status().to_string();
  EXPECT_EQ(fingerprint(joined->graph), fingerprint(machine_of("dgx-a100 hosts:4 fabric:tree leaf_hosts:2")));
  const Result<Survey> other = read_fabric("f", "weft-fabric 1\nhosts 3 of dgx-a100\n", hosts);
  ASSERT_FALSE(other);
  EXPECT_THAT(std::string(other.error().message()), HasSubstr("about 3 hosts, but there are 4"));
}

TEST(FabricFile, takes_hosts_from_a_file_beside_it) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/node.json") << to_json(machine_of("gpu:2 nic:1 hdr"));
  std::ofstream(folder.path() + "/two.fabric") << "weft-fabric 1\nhosts 2 from node.json\nlevels 1\n";
  std::ofstream(folder.path() + "/loop.fabric") << "weft-fabric 1\nhosts 2 from loop.fabric\n";
  std::ofstream(folder.path() + "/mark.fabric") << "\xef\xbb\xbfweft-fabric 1\nhosts 2 from node.json\nlevels 1\n";
  std::ofstream(folder.path() + "/mark-loop.fabric") << "weft-fabric 1\nhosts 2 from mark.fabric\n";
  const Result<Survey> survey = load_fabric(folder.path() + "/two.fabric");
  ASSERT_TRUE(survey) << survey.status().to_string();
  EXPECT_EQ(path_of(survey->graph, "host0/gpu0", "host1/gpu1").path_class, PathClass::Net);
  for (const char* file : {"/loop.fabric", "/mark-loop.fabric"}) {
    const Result<Survey> loop = load_fabric(folder.path() + file);
    ASSERT_FALSE(loop);
    EXPECT_THAT(std::string(loop.error().message()), HasSubstr("is a fabric itself"));
  }
  const Result<Survey> marked = load_fabric(folder.path() + "/mark.fabric");
  ASSERT_TRUE(marked) << marked.status().to_string();
  EXPECT_EQ(marked->graph, survey->graph) << "a byte-order mark says nothing";
}

TEST(FabricFile, refusals_name_file_line_and_reason) {
  EXPECT_THAT(file_refusal("weft-fabric 1\nhosts 0 of dgx-h100\n"), HasSubstr("f:2: hosts \"0\""));
  EXPECT_THAT(file_refusal("weft-fabric 1\n\nspeed 9\n"), HasSubstr("f:3: unknown item \"speed\""));
  EXPECT_THAT(file_refusal("weft-fabric 2\n"), HasSubstr("f:1: "));
  EXPECT_THAT(file_refusal("weft-fabric 1\nlevels 2\nlevels 2\n"), HasSubstr("f:3: levels is given twice"));
  EXPECT_THAT(file_refusal("weft-fabric 1\nleaf hosts 2 oversubscription x\n"), HasSubstr("f:2: oversubscription"));
  EXPECT_THAT(file_refusal("weft-fabric 1\nlevels 2\n"), HasSubstr("has no hosts"));
  EXPECT_THAT(file_refusal("weft-fabric 1\nhosts 2 of dgx-x\n"), HasSubstr("unknown word"));
  EXPECT_THAT(file_refusal("weft-fabric 1\nhosts 2 of dgx-h100 hosts:2\n"), HasSubstr("not one"));
  EXPECT_THAT(file_refusal("weft-fabric 1\npod hosts 4\nlevels 2\nhosts 2 of dgx-h100\n"), HasSubstr("levels 3"));
  EXPECT_THAT(file_refusal("weft-fabric 1\nhosts 2 from a b.xml\n"), HasSubstr("f:2: hosts from needs one file name"));
  EXPECT_THAT(file_refusal("hosts 2\n"), HasSubstr("no fabric file"));
}

std::string listing() {
  std::ifstream file(std::string(kData) + "four-nodes.ibnetdiscover");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Ibnetdiscover, becomes_hosts_with_nics_and_spines_that_share_load_are_one) {
  const Result<Survey> survey = read_fabric("f", listing());
  ASSERT_TRUE(survey) << survey.status().to_string();
  const Graph& graph = survey->graph;
  ASSERT_TRUE(graph.check().ok()) << graph.check().to_string();
  EXPECT_EQ(graph.hosts(), 4);
  EXPECT_EQ(graph.ids(NodeKind::Nic).size(), 4u);  // not SHARP's aggregation node
  EXPECT_EQ(graph.ids(NodeKind::NetworkSwitch).size(), 3u);
  const Path near = path_of(graph, "host0/mlx5_0", "host1/mlx5_0");
  EXPECT_EQ(near.hops.size(), 2u);
  const Path far = path_of(graph, "host0/mlx5_0", "host2/mlx5_0");
  EXPECT_DOUBLE_EQ(far.bandwidth_gbs, 25);
  ASSERT_EQ(far.hops.size(), 4u);
  EXPECT_DOUBLE_EQ(graph.links[static_cast<std::size_t>(far.hops[1].link)].bandwidth_gbs, 50);  // both spines
  EXPECT_DOUBLE_EQ(path_of(graph, "host0/mlx5_0", "host3/mlx5_0").bandwidth_gbs, 12.5);         // 2xHDR
  EXPECT_EQ(survey->facts(0).device("mlx5_0")->guid, "0c42a10300000100");
}

TEST(Ibnetdiscover, finds_the_nics_of_hosts_by_guid_then_by_name) {
  Survey hosts;
  hosts.graph = machine_of("gpu:2 nic:1 hdr hosts:2");
  hosts.hosts.resize(2);
  DeviceFacts& nic = hosts.hosts[0].devices.emplace_back();
  nic.node = "nic0";
  nic.guid = "0c42:a103:0000:0300";
  hosts.hosts[1].hostname = "node1.cluster";
  hosts.graph.nodes[static_cast<std::size_t>(*hosts.graph.find("host1/nic0"))].names = {"mlx5_0"};
  const Result<Survey> joined = read_fabric("f", listing(), hosts);
  ASSERT_TRUE(joined) << joined.status().to_string();
  const Path path = path_of(joined->graph, "host0/gpu0", "host1/gpu0");
  EXPECT_EQ(switches_of(joined->graph, path).size(), 3u);  // node3 and node1 are at two leaves
  ASSERT_EQ(joined->remarks.size(), 1u);
  EXPECT_THAT(joined->remarks[0].evidence, HasSubstr("2 of 4 adapters"));
}

TEST(Ibnetdiscover, a_cut_listing_is_read_as_far_as_it_goes_and_nonsense_is_refused) {
  const std::string whole = listing();
  EXPECT_THAT(file_refusal(whole.substr(0, whole.find("caguid="))), HasSubstr("no host adapter"));
  std::string doubled = whole;
  doubled += "Ca\t1 \"H-0c42a10300000100\"\t\t# \"node1 mlx5_0\"\n";
  EXPECT_THAT(file_refusal(doubled), HasSubstr("is listed twice"));
  std::string bad_port = whole;
  bad_port.replace(bad_port.find("[21]"), 4, "[x1]");
  EXPECT_THAT(file_refusal(bad_port), HasSubstr("f:13: "));
  std::string rates = whole;
  rates.replace(rates.rfind("2xHDR"), 5, "4xHDR");
  EXPECT_THAT(file_refusal(rates), HasSubstr("different rates"));
}

// One switch, and adapters with those descriptions at its ports.
std::string star(const std::vector<std::string>& descriptions, std::string_view rate) {
  std::string text = "switchguid=0xb8cef60300000010\nSwitch\t41 \"S-b8cef60300000010\"\t\t# \"leaf1\"\n";
  std::string adapters;
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    text += fmt::format("[{}]\t\"H-{:016x}\"[1]\t\t# \"{}\" lid 5 {}\n", i + 1, i + 1, descriptions[i], rate);
    adapters += fmt::format("\ncaguid=0x{0:x}\nCa\t1 \"H-{0:016x}\"\t\t# \"{1}\"\n", i + 1, descriptions[i]);
  }
  return text + adapters;
}

TEST(Ibnetdiscover, adapters_of_one_name_get_numbers) {
  const Result<Survey> survey = read_fabric("f", star({"node1 mlx5_0", "node1 mlx5_0", "mlx5_0 mlx5_0"}, "4xHDR"));
  ASSERT_TRUE(survey) << survey.status().to_string();
  EXPECT_TRUE(survey->graph.find("host0/mlx5_0"));
  EXPECT_TRUE(survey->graph.find("host0/mlx5_0-2"));
  EXPECT_NE(survey->facts(0).device("mlx5_0-2"), nullptr);
}

TEST(Ibnetdiscover, ten_thousand_adapters_of_one_name_are_read_fast) {
  const std::string text = star(std::vector<std::string>(10'000, "node1 mlx5_0"), "4xHDR");
  const auto start = std::chrono::steady_clock::now();
  const Result<Survey> survey = read_fabric("f", text);
  const auto taken = std::chrono::steady_clock::now() - start;
  if constexpr (!WEFT_ADDRESS_SANITIZER && !WEFT_THREAD_SANITIZER) {
    EXPECT_LT(taken, std::chrono::seconds(3));
  }
  if (!survey) return;  // so many may be too many for one host
  for (const Node& node : survey->graph.nodes) ASSERT_LE(node.name.size(), 70u);
}

TEST(Ibnetdiscover, a_description_from_the_factory_names_no_host) {
  const std::string factory = "MT25408 ConnectX Mellanox Technologies";
  const Result<Survey> survey =
      read_fabric("f", star({factory, factory, "MT4123 ConnectX6   Mellanox Technologies"}, "4xHDR"));
  ASSERT_TRUE(survey) << survey.status().to_string();
  ASSERT_EQ(survey->hosts.size(), 3u);
  EXPECT_EQ(survey->facts(0).hostname, "H-0000000000000001");
  EXPECT_EQ(survey->facts(1).hostname, "H-0000000000000002");
}

TEST(Ibnetdiscover, a_cable_without_a_rate_has_an_assumed_one) {
  const Result<Survey> survey = read_fabric("f", star({"node1 mlx5_0", "node2 mlx5_0"}, ""));
  ASSERT_TRUE(survey) << survey.status().to_string();
  std::size_t cables = 0;
  for (const Link& link : survey->graph.links) {
    if (link.kind != LinkKind::Network) continue;
    ++cables;
    EXPECT_EQ(link.source, "assumed");
    EXPECT_DOUBLE_EQ(link.bandwidth_gbs, rates::kAssumedEthernet.bandwidth_gbs);
  }
  EXPECT_EQ(cables, 2u);
  for (int nic : survey->graph.ids(NodeKind::Nic))
    EXPECT_EQ(survey->graph.nodes[static_cast<std::size_t>(nic)].network_gbs, std::nullopt);
}

}  // namespace
}  // namespace weft::topology
