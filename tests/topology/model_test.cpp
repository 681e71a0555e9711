// Machine models: what lines and names give, and how wrong ones are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view line) {
  const Result<Graph> graph = model(line);
  if (graph) return "accepted";
  EXPECT_EQ(graph.error().code(), Code::InvalidArgument);
  return std::string(graph.error().message());
}

TEST(Model, every_name_gives_a_sound_graph) {
  for (std::string_view name : model_names()) {
    SCOPED_TRACE(name);
    const Result<Graph> graph = model(name);
    ASSERT_TRUE(graph) << graph.status().to_string();
    EXPECT_TRUE(graph->check().ok()) << graph->check().to_string();
    EXPECT_EQ(graph->hosts(), 1);
    EXPECT_EQ(graph->name, name);
  }
}

TEST(Model, counts_are_those_of_the_machines) {
  const auto count = [](std::string_view name, NodeKind kind) { return model(name)->ids(kind).size(); };
  EXPECT_EQ(count("dgx-h100", NodeKind::Gpu), 8u);
  EXPECT_EQ(count("dgx-h100", NodeKind::Nic), 8u);
  EXPECT_EQ(count("dgx-h100", NodeKind::PciSwitch), 8u);
  EXPECT_EQ(count("dgx-a100", NodeKind::PciSwitch), 4u);
  EXPECT_EQ(count("dgx-a100", NodeKind::Numa), 8u);
  EXPECT_EQ(count("p5.48xlarge", NodeKind::Nic), 32u);
  EXPECT_EQ(count("pcie-8gpu", NodeKind::NvSwitch), 0u);
  EXPECT_EQ(count("cpu-2socket", NodeKind::Package), 2u);
  EXPECT_EQ(count("cpu-2socket hosts:3", NodeKind::NetworkSwitch), 1u);
}

TEST(Model, items_override_what_a_name_says) {
  const Result<Graph> graph = model("dgx-h100 hosts:2 nic:4 hdr");
  ASSERT_TRUE(graph) << graph.status().to_string();
  EXPECT_EQ(graph->ids(NodeKind::Nic).size(), 8u);
  EXPECT_DOUBLE_EQ(graph->nodes[static_cast<std::size_t>(*graph->find("host0/nic0"))].network_gbs.value(), 25);
}

TEST(Model, hosts_without_nics_are_joined_at_an_assumed_rate) {
  const Result<Graph> graph = model("hosts:2 cores:4");
  ASSERT_TRUE(graph);
  const Path path = graph->best_path(*graph->find("host0/cores0"), *graph->find("host1/cores0"));
  EXPECT_EQ(path.path_class, PathClass::Net);
  EXPECT_EQ(graph->links[static_cast<std::size_t>(path.binding_link)].source, "assumed");
}

TEST(Model, refusals_name_the_word_and_the_remedy) {
  EXPECT_THAT(refusal("gpu:8 nvlnk:25"), HasSubstr("\"nvlnk:25\""));
  EXPECT_THAT(refusal("gpu:8 nvlnk:25"), HasSubstr("nvswitch"));
  EXPECT_THAT(refusal("dgx-h200"), HasSubstr("dgx-h100"));
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("gpu:eight"), HasSubstr("gpu:eight"));
  EXPECT_THAT(refusal("gpu:8x"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("gpu:-1"), HasSubstr("from 0"));
  EXPECT_THAT(refusal("gpu:"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("pcie:7"), HasSubstr("3 to 6"));
  EXPECT_THAT(refusal("gpu:2 nvlink:nan"), HasSubstr("nvlink:nan"));
  EXPECT_THAT(refusal("gpu:2 gpu:4"), HasSubstr("given twice"));
  EXPECT_THAT(refusal("nic:2 hdr ndr"), HasSubstr("given twice"));
  EXPECT_THAT(refusal("nic:2"), HasSubstr("needs a rate"));
  EXPECT_THAT(refusal("hdr"), HasSubstr("add nic:N"));
  EXPECT_THAT(refusal("nvlink:25"), HasSubstr("pairs of GPUs"));
  EXPECT_THAT(refusal("gpu:4 nvlink:25 nvswitch:450"), HasSubstr("exclude"));
  EXPECT_THAT(refusal("packages:2 numa:3"), HasSubstr("multiple"));
  EXPECT_THAT(refusal("hosts:2049 gpu:8"), HasSubstr("16384"));
  EXPECT_THAT(refusal("hosts:16384 nic:1024 ndr"), HasSubstr("nodes"));
  EXPECT_THAT(refusal(std::string(5000, 'x')), HasSubstr("4096"));
}

TEST(Model, what_would_take_long_is_refused_with_the_limit) {
  EXPECT_THAT(refusal("gpu:16384"), HasSubstr("gpu:16384 needs a whole number from 0 to 1024"));
  EXPECT_THAT(refusal("gpu:1025 nvswitch:450"), HasSubstr("to 1024"));
  EXPECT_THAT(refusal("nic:100000 ndr"), HasSubstr("to 1024"));
  EXPECT_THAT(refusal("numa:5000"), HasSubstr("to 256"));
  EXPECT_THAT(refusal("hosts:1000000"), HasSubstr("to 16384"));
  EXPECT_THAT(refusal("hosts:16 gpu:1024"), HasSubstr("the most is 6000000"));
  EXPECT_THAT(refusal("hosts:1000 packages:64 numa:256"), HasSubstr("the most is 300000"));
  for (const char* line :
       {"gpu:1024", "hosts:2048 gpu:8 nvswitch:450 nic:8 ndr packages:2", "hosts:16384 gpu:1 nic:1 ndr",
        "hosts:227 gpu:72 nic:72 ndr nvswitch:900", "gpu:64 nvlink:25", "hosts:16384 nic:4 ndr"})
    EXPECT_TRUE(model(line)) << line;
}

TEST(Model, the_largest_cluster_builds_and_checks_fast) {
  const auto start = std::chrono::steady_clock::now();
  const Result<Graph> graph = model("dgx-h100 hosts:2048");
  ASSERT_TRUE(graph) << graph.status().to_string();
  EXPECT_TRUE(graph->check().ok());
  EXPECT_EQ(graph->ids(NodeKind::Gpu).size(), 16384u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Fingerprint, is_equal_for_like_machines_and_differs_for_others) {
  Graph renamed = *model("dgx-h100");
  for (Node& node : renamed.nodes) node.name += "x", node.bus_id = "0000:01:00.0";
  EXPECT_EQ(fingerprint(renamed), fingerprint(*model("dgx-h100")));
  EXPECT_NE(fingerprint(*model("dgx-h100")), fingerprint(*model("dgx-a100")));
  EXPECT_NE(fingerprint(*model("gpu:2 nvlink:25")), fingerprint(*model("gpu:2 nvlink:50")));
  EXPECT_NE(fingerprint(*model("cores:2")), fingerprint(*model("cores:4")));
}

// FNV-1a of each node's kind, parent, host, device and cores, worked out by another program.
TEST(Fingerprint, stays_what_tables_on_disk_hold) {
  Graph graph;
  Node machine;
  machine.cores = 2;
  Node gpu;
  gpu.kind = NodeKind::Gpu;
  gpu.parent = graph.add(machine);
  gpu.device = "10de:2330";
  graph.add(gpu);
  EXPECT_EQ(fingerprint(graph), "1host-1gpu-f170da83df3149d0");
}

}  // namespace
}  // namespace weft::topology
