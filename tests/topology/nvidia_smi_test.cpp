// The text of `nvidia-smi topo`, as printed and as people paste it: classes are those of the text, and what is missing
// or cannot be placed is unknown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/locality.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<Graph> load_text(std::string_view text) {
  test::RecordedTree folder;
  folder.write("/topo.txt", text);
  return load(folder.root() + "/topo.txt");
}

Graph read(std::string_view text) {
  Result<Graph> graph = load_text(text);
  EXPECT_TRUE(graph) << graph.status().to_string();
  return graph ? std::move(graph).value() : Graph();
}

int id(const Graph& graph, std::string_view name) {
  const std::optional<int> found = graph.find(name);
  EXPECT_TRUE(found) << name;
  return found.value_or(0);
}

const Node& node(const Graph& graph, std::string_view name) {
  return graph.nodes.at(static_cast<std::size_t>(id(graph, name)));
}

// "PIX"; "NV4" for four NVLinks.
std::string between(const Graph& graph, std::string_view a, std::string_view b) {
  const Path path = graph.best_path(id(graph, a), id(graph, b));
  if (path.path_class != PathClass::Nvl) return std::string(to_string(path.path_class));
  return "NV" + std::to_string(graph.links[static_cast<std::size_t>(path.hops.front().link)].count);
}

std::vector<int> numas(const Graph& graph, std::string_view name) {
  std::vector<int> indices;
  for (int numa : Locality(graph).numa_nodes_of(id(graph, name)))
    indices.push_back(graph.nodes[static_cast<std::size_t>(numa)].os_index.value_or(-1));
  return indices;
}

std::string printed() {
  return "\tGPU0\tGPU1\tGPU2\tmlx5_0\tCPU Affinity\tNUMA Affinity\n"
         "GPU0\t X \tPIX\tSYS\tPHB\t0-3\t0\n"
         "GPU1\tPIX\t X \tSYS\tNODE\t0-3\t0\n"
         "GPU2\tSYS\tSYS\t X \tSYS\t4-7\t1\n"
         "mlx5_0\tPHB\tNODE\tSYS\t X \t\t\n";
}

TEST(NvidiaSmi, the_printed_text_is_read_whole) {
  const Result<Graph> loaded = load("tests/topology/data/nvidia-smi-3gpu-2nic.txt");
  ASSERT_TRUE(loaded) << loaded.status().to_string();
  const Graph& graph = *loaded;
  EXPECT_TRUE(graph.check().ok());
  EXPECT_EQ(*from_json(to_json(graph)), graph);
  EXPECT_EQ(between(graph, "gpu0", "gpu1"), "NV4");
  EXPECT_EQ(between(graph, "gpu0", "mlx5_4"), "PIX");  // by the legend of NICs
  EXPECT_EQ(between(graph, "gpu1", "mlx5_4"), "PXB");
  EXPECT_EQ(between(graph, "gpu2", "mlx5_5"), "NODE");
  EXPECT_EQ(between(graph, "mlx5_4", "mlx5_5"), "SYS");
  EXPECT_EQ(node(graph, "gpu2").cpus, "8-15,24-31");
  EXPECT_THAT(numas(graph, "gpu2"), ElementsAre(1));
  EXPECT_THAT(numas(graph, "mlx5_5"), ElementsAre(1));  // NODE is on one NUMA node
  EXPECT_TRUE(node(graph, "mlx5_4").fabric);
}

TEST(NvidiaSmi, a_bridge_of_four_links_has_the_narrow_ones_of_ga102) {
  const auto gbs = [](const Graph& graph) {
    for (const Link& link : graph.links)
      if (link.kind == LinkKind::NvLink) return link.bandwidth_gbs;
    return 0.0;
  };
  const Graph pair = read("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-23\nGPU1\tNV4\t X \t0-23\n");
  EXPECT_DOUBLE_EQ(gbs(pair), 56.25);
  EXPECT_EQ(pair.links.back().source, "assumed");
  // Two links (Turing), and GPUs that have other NVLinks besides.
  EXPECT_DOUBLE_EQ(gbs(read("\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n")), 50);
  EXPECT_DOUBLE_EQ(gbs(read("\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV4\tNV4\nGPU1\tNV4\t X \tNV4\nGPU2\tNV4\tNV4\t X \n")),
                   100);
}

TEST(NvidiaSmi, pix_is_nearer_than_pxb) {
  const Result<Graph> graph = load("tests/topology/data/nvidia-smi-3gpu-2nic.txt");
  ASSERT_TRUE(graph);
  Locality locality(*graph);
  EXPECT_THAT(locality.nearest_nics(id(*graph, "gpu1")), ElementsAre(id(*graph, "mlx5_4")));
  EXPECT_THAT(locality.nearest_nics(id(*graph, "gpu2")), ElementsAre(id(*graph, "mlx5_5")));
}

TEST(NvidiaSmi, what_is_behind_nvlink_is_unknown) {
  Graph graph = *load("tests/topology/data/nvidia-smi-3gpu-2nic.txt");
  std::erase_if(graph.links, [](const Link& link) { return link.kind == LinkKind::NvLink; });
  EXPECT_EQ(between(graph, "gpu0", "gpu1"), "UNKNOWN");
  EXPECT_EQ(between(graph, "gpu0", "gpu2"), "SYS");
}

TEST(NvidiaSmi, old_drivers_say_soc_and_know_no_numa_nodes) {
  const Graph graph = read("\tGPU0\tGPU1\tmlx4_0\tCPU Affinity\nGPU0\t X \tSOC\tPHB\t0-3\nGPU1\tSOC\t X \tSOC\t4-7\n");
  EXPECT_EQ(between(graph, "gpu0", "gpu1"), "SYS");
  EXPECT_EQ(between(graph, "gpu0", "mlx4_0"), "PHB");
  EXPECT_THAT(graph.ids(NodeKind::Numa), IsEmpty());
  EXPECT_EQ(node(graph, "gpu1").cpus, "4-7");
}

TEST(NvidiaSmi, pastes_say_what_the_printed_text_says) {
  const std::string text = printed();
  const Graph want = read(text);
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed;
    for (std::size_t at = 0; at < text.size();)
      if (text.compare(at, from.size(), from) == 0)
        changed += to, at += from.size();
      else
        changed += text[at++];
    return read(changed);
  };
  EXPECT_EQ(with("\t", "     "), want);
  EXPECT_EQ(with("\n", "\r\n"), want);
  EXPECT_EQ(with("\n", "\n    "), want);
  EXPECT_EQ(with("\tGPU0", "GPU0"), want);
  EXPECT_EQ(with("\tGPU", "\t\x1b[4mGPU"), want);
  EXPECT_EQ(with("\t", "\xc2\xa0"), want);
  EXPECT_EQ(with("mlx5_0\tCPU Affinity\t", "mlx5_0 CPU Affinity "), want);
  EXPECT_EQ(with("PIX\tSYS", "PIXSYS"), want);
  EXPECT_EQ(with("GPU1\tGPU2", "GPU1GPU2"), want);
  EXPECT_EQ(with("SYS\tPHB\t0-3", "SYS\tPHB0-3"), want);
  EXPECT_EQ(with("GPU0\t X \tPIX", "GPU0\t X \t"), want);  // an empty cell: the other row has it
  EXPECT_EQ(with("0-3", "0,1, 2,3").nodes.at(static_cast<std::size_t>(id(want, "gpu0"))).cpus, "0,1,2,3");
}

TEST(NvidiaSmi, without_a_header_the_x_tells_the_column) {
  const std::string text = printed();
  EXPECT_EQ(read(text.substr(text.find('\n') + 1)), read(text));
}

TEST(NvidiaSmi, a_cut_text_is_read_as_far_as_it_goes) {
  const std::string text = printed();
  const Graph graph = read(text.substr(0, text.find("GPU1\tPIX") + std::string("GPU1\tPIX\t X \tS").size()));
  EXPECT_EQ(graph.ids(NodeKind::Gpu).size(), 3u);
  EXPECT_EQ(between(graph, "gpu0", "gpu2"), "SYS");
  EXPECT_EQ(between(graph, "gpu1", "gpu2"), "UNKNOWN");
  EXPECT_EQ(between(graph, "gpu1", "mlx5_0"), "UNKNOWN");
  Locality locality(graph);
  EXPECT_THAT(locality.nearest_nics(id(graph, "gpu1")), IsEmpty());
  // Its last line may be cut within a number.
  const Graph shorter = read(text.substr(0, text.find("0\nGPU2") - 3));
  EXPECT_EQ(node(shorter, "gpu0").cpus, "0-3");
  EXPECT_EQ(node(shorter, "gpu1").cpus, "");
}

TEST(NvidiaSmi, the_last_cell_of_a_cut_row_may_be_cut_too) {
  const Graph graph = read("GPU0 GPU1 GPU2 GPU3\nGPU0 X NV4 NV1");  // of "NV18", perhaps
  EXPECT_EQ(between(graph, "gpu0", "gpu1"), "NV4");
  EXPECT_EQ(between(graph, "gpu0", "gpu2"), "UNKNOWN");
  EXPECT_EQ(between(read("GPU0 GPU1 GPU2 GPU3\nGPU0 X PIX SY"), "gpu0", "gpu1"), "PIX");
}

TEST(NvidiaSmi, a_cell_that_is_lost_without_trace_makes_no_other_one_wrong) {
  const Graph graph =
      read("GPU0 GPU1 GPU2 GPU3 CPU Affinity\nGPU0 X PIX SYS 0-3\nGPU1 X PHB SYS 0-3\nGPU2 SYS PHB X NODE 4-7\n");
  EXPECT_EQ(between(graph, "gpu0", "gpu1"), "UNKNOWN");
  EXPECT_EQ(between(graph, "gpu0", "gpu2"), "SYS");
  EXPECT_EQ(between(graph, "gpu1", "gpu2"), "PHB");
  EXPECT_EQ(between(graph, "gpu1", "gpu3"), "SYS");
  EXPECT_EQ(between(graph, "gpu0", "gpu3"), "UNKNOWN");
}

TEST(NvidiaSmi, more_nvlinks_than_a_gpu_has_lead_to_a_switch) {
  const Graph switched = read("GPU0 GPU1 GPU2\nGPU0 X NV12 NV12\nGPU1 NV12 X NV12\nGPU2 NV12 NV12 X\n");
  EXPECT_EQ(switched.ids(NodeKind::NvSwitch).size(), 1u);
  EXPECT_EQ(between(switched, "gpu0", "gpu2"), "NV12");
  const Graph direct = read("GPU0 GPU1 GPU2\nGPU0 X NV2 NV4\nGPU1 NV2 X NV4\nGPU2 NV4 NV4 X\n");
  EXPECT_THAT(direct.ids(NodeKind::NvSwitch), IsEmpty());
  EXPECT_EQ(between(direct, "gpu0", "gpu1"), "NV2");
  EXPECT_EQ(between(direct, "gpu1", "gpu2"), "NV4");
}

TEST(NvidiaSmi, the_p2p_matrix_does_not_hide_the_other_one) {
  const std::string p2p =
      " \tGPU0\tGPU1\t\n GPU0\tX\tOK\t\n GPU1\tOK\tX\t\n\nLegend:\n  X    = Self\n  OK   = Status Ok\n";
  const std::string topology = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPHB\t0-3\nGPU1\tPHB\t X \t0-3\n";
  EXPECT_EQ(between(read(topology + "\n" + p2p), "gpu0", "gpu1"), "PHB");
  EXPECT_EQ(between(read(p2p + "\n" + topology), "gpu0", "gpu1"), "PHB");
  EXPECT_EQ(between(read(p2p), "gpu0", "gpu1"), "UNKNOWN");
}

TEST(NvidiaSmi, several_numa_nodes_or_none_are_not_one) {
  const Graph graph =
      read("\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tPHB\t0-31\t0-1\nGPU1\tPHB\t X \tN/A\tN/A\n");
  EXPECT_EQ(graph.ids(NodeKind::Numa).size(), 2u);
  EXPECT_THAT(numas(graph, "gpu0"), IsEmpty());
  EXPECT_EQ(node(graph, "gpu0").cpus, "0-31");
  EXPECT_EQ(node(graph, "gpu1").cpus, "");
}

TEST(NvidiaSmi, what_no_terminal_printed_is_refused_with_one_line) {
  const auto refusal = [](const std::string& text) {
    const Result<Graph> graph = load_text(text);
    return graph ? std::string("accepted") : std::string(graph.error().message());
  };
  const std::string text = printed();
  EXPECT_THAT(refusal(text + "\xff\n"), HasSubstr("topo.txt:6: is not UTF-8"));
  EXPECT_THAT(refusal(text + std::string(1, '\0')), HasSubstr("topo.txt:6: holds a zero byte"));
  EXPECT_THAT(refusal(text + std::string(std::size_t{8} << 20, '\n')), HasSubstr("is longer than 8388608 bytes"));
  EXPECT_THAT(refusal(text + std::string(100'000, '\n')), HasSubstr("has more than 65536 lines"));
  EXPECT_THAT(refusal(text + std::string(100'000, 'x')), HasSubstr("topo.txt:6: a line of 100000 bytes"));
  std::string wide = "GPU0";
  for (int i = 1; i < 2000; ++i) wide += " GPU" + std::to_string(i);
  EXPECT_THAT(refusal(wide), HasSubstr("topo.txt:1: names more than 1024 devices"));
}

}  // namespace
}  // namespace weft::topology
