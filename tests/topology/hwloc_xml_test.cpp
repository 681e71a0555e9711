// hwloc XML of real machines (tests/topology/data): counts, places, links and paths are those of the machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/locality.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;

Graph machine(const std::string& file) {
  Result<Graph> graph = load("tests/topology/data/" + file);
  EXPECT_TRUE(graph) << graph.status().to_string();
  return graph ? std::move(graph).value() : Graph();
}

struct Counts {
  const char* file;
  std::size_t packages, numas;
  int cores;
  std::size_t gpus, nics;
};

TEST(HwlocXml, counts_are_those_of_the_machines) {
  for (const Counts& want :
       {Counts{"2xp100-one-plx-switch-cx5.xml", 2, 2, 36, 2, 3},
        Counts{"lassen-4xv100-power9-hwloc1.xml", 2, 6, 40, 4, 6}, Counts{"gh200-72c-no-io.xml", 1, 1, 72, 0, 0},
        Counts{"tioga-8gcd-mi250x-4xslingshot.xml", 1, 4, 64, 8, 5}}) {
    SCOPED_TRACE(want.file);
    const Graph graph = machine(want.file);
    EXPECT_TRUE(graph.check().ok()) << graph.check().to_string();
    EXPECT_EQ(graph.ids(NodeKind::Package).size(), want.packages);
    EXPECT_EQ(graph.ids(NodeKind::Numa).size(), want.numas);
    EXPECT_EQ(graph.nodes.at(0).cores, want.cores);
    EXPECT_EQ(graph.ids(NodeKind::Gpu).size(), want.gpus);
    EXPECT_EQ(graph.ids(NodeKind::Nic).size(), want.nics);
    EXPECT_EQ(*from_json(to_json(graph)), graph);
  }
}

TEST(HwlocXml, two_gpus_and_a_nic_on_one_switch) {
  const Graph graph = machine("2xp100-one-plx-switch-cx5.xml");
  const auto path = [&](std::string_view from, std::string_view to) {
    return graph.best_path(*graph.find(from), *graph.find(to));
  };
  EXPECT_EQ(path("gpu0", "gpu1").path_class, PathClass::Pix);
  EXPECT_EQ(path("gpu0", "mlx5_0").path_class, PathClass::Pix);
  EXPECT_EQ(path("gpu0", "enp12s0f0").path_class, PathClass::Phb);
  EXPECT_NEAR(path("gpu0", "gpu1").bandwidth_gbs, 15.75, 0.01);
  const Node& nic = graph.nodes[static_cast<std::size_t>(*graph.find("mlx5_0"))];
  EXPECT_TRUE(nic.fabric);
  EXPECT_EQ(nic.active, true);
  EXPECT_EQ(nic.network_gbs, 12.5);
  EXPECT_EQ(nic.bus_id, "0000:08:00.0");
  Locality locality(graph);
  EXPECT_THAT(locality.nearest_nics(*graph.find("gpu1")), testing::ElementsAre(nic.id));
  EXPECT_EQ(locality.pci_link_gbs(nic.id).value_or(0),
            locality.pci_link_gbs(locality.upstream_bridge(nic.id)).value_or(-1));
}

TEST(HwlocXml, numa_nodes_of_gpu_memory_have_no_cpus_and_no_core_groups) {
  const Graph graph = machine("lassen-4xv100-power9-hwloc1.xml");
  const Node& memory = graph.nodes[static_cast<std::size_t>(*graph.find("numa255"))];
  EXPECT_EQ(memory.cpus, "");
  for (int group : graph.ids(NodeKind::CoreGroup))
    EXPECT_NE(graph.nodes[static_cast<std::size_t>(group)].parent, memory.id);
  // The link speed is not in the file, so it is assumed, not invented.
  EXPECT_EQ(Locality(graph).pci_link_gbs(*graph.find("gpu0")), std::nullopt);
}

TEST(HwlocXml, xgmi_joins_the_dies_and_core_groups_follow_the_caches) {
  const Graph graph = machine("tioga-8gcd-mi250x-4xslingshot.xml");
  const Path path = graph.best_path(*graph.find("gpu0"), *graph.find("gpu7"));
  EXPECT_EQ(path.path_class, PathClass::Nvl);
  EXPECT_EQ(graph.links[static_cast<std::size_t>(path.hops.at(0).link)].kind, LinkKind::Xgmi);
  EXPECT_EQ(graph.ids(NodeKind::CoreGroup).size(), 8u);
  EXPECT_EQ(make_group(graph, *place(graph, 8)).hosts.size(), 1u);
}

TEST(HwlocXml, files_that_are_not_ours_are_refused_with_their_name) {
  test::RecordedTree tree;
  const auto refusal = [&](std::string_view text) {
    tree.write("/file", text);
    const Result<Graph> graph = load(tree.root() + "/file");
    return graph ? std::string("accepted") : graph.error().to_string();
  };
  EXPECT_THAT(refusal(""), HasSubstr("is not a topology file"));
  EXPECT_THAT(refusal("hello"), HasSubstr("/file: is not a topology file"));
  EXPECT_THAT(refusal("<topology version=\"2.0\"><object"), HasSubstr("corrupt data"));
  EXPECT_THAT(refusal("<?xml version=\"1.0\"?><topology version=\"3.0\"></topology>"), HasSubstr("no object"));
  EXPECT_THAT(refusal("{\"schema\": 1}"), HasSubstr("lacks \"name\""));
  EXPECT_THAT(load(tree.root() + "/absent").error().to_string(), HasSubstr("not found: cannot read"));
  EXPECT_THAT(load(tree.root()).error().to_string(), HasSubstr("holds no recorded tree"));
}

TEST(HwlocXml, numbers_that_are_none_are_refused_with_their_line) {
  test::RecordedTree tree;
  const auto refusal = [&](std::string_view rate, std::string_view memory) {
    tree.write("/file",
               "<topology version='2.0'>\n<object type='Machine' cpuset='0x1'>\n<object type='PCIDev' "
               "pci_busid='0000:01:00.0' pci_type='0302 [10de:2330]' pci_link_speed='" +
                   std::string(rate) + "'/>\n<object type='NUMANode' os_index='0' cpuset='0x1' local_memory='" +
                   std::string(memory) + "'/></object></topology>");
    const Result<Graph> graph = load(tree.root() + "/file");
    return graph ? std::string("accepted") : std::string(graph.error().message());
  };
  EXPECT_EQ(refusal("63.015385", "4096"), "accepted");
  EXPECT_EQ(refusal("0.000000", ""), "accepted");
  EXPECT_EQ(refusal("", ""), "accepted");
  for (const char* rate : {"-1", "nan", "inf", "63,0", "fast", "1e9"})
    EXPECT_THAT(refusal(rate, "4096"), HasSubstr("file:3: pci_link_speed \"" + std::string(rate) + "\" is no rate"));
  for (const char* memory : {"-1", "1e9", "4 GB"})
    EXPECT_THAT(refusal("1.0", memory), HasSubstr("file:4: local_memory \"" + std::string(memory) + "\" is no number"));
}

TEST(HwlocXml, a_truncated_file_is_corrupt) {
  std::ifstream in("tests/topology/data/gh200-72c-no-io.xml");
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  test::RecordedTree tree;
  for (std::size_t cut : {whole.size() / 4, whole.size() / 2, whole.size() - 20}) {
    tree.write("/cut.xml", whole.substr(0, cut));
    const Result<Graph> graph = from_hwloc_xml(tree.root() + "/cut.xml");
    ASSERT_FALSE(graph) << cut;
    EXPECT_EQ(graph.error().code(), Code::Corrupt);
  }
}

// What lstopo writes of this machine, and what is detected: the same wherever both say something.
TEST(HwlocXml, what_lstopo_exports_equals_live_detection) {
  const test::RecordedTree folder;
  const std::string file = folder.root() + "/here.xml";
  const std::string command = "lstopo-no-graphics --of xml --force " + file + " >/dev/null 2>&1";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "there is no lstopo-no-graphics (package hwloc-nox)";
  const Result<Graph> exported = load(file);
  ASSERT_TRUE(exported) << exported.status().to_string();
  const Result<Graph> live = probe();
  ASSERT_TRUE(live) << live.status().to_string();
  EXPECT_EQ(exported->name, live->name);
  ASSERT_EQ(exported->nodes.size(), live->nodes.size());
  for (std::size_t i = 0; i < live->nodes.size(); ++i) {
    Node wanted = live->nodes[i];
    const Node& found = exported->nodes[i];
    SCOPED_TRACE(wanted.name);
    // The XML does not tell these: sysfs does.
    wanted.pci = {};
    if (!found.active) wanted.active.reset();
    if (found.network_gbs != wanted.network_gbs) wanted.network_gbs = found.network_gbs;
    if (found.model.empty() || wanted.model.empty()) wanted.model = found.model;
    EXPECT_EQ(found, wanted);
  }
}

}  // namespace
}  // namespace weft::topology
