// The text of `rocm-smi --showtopo`: which GPUs XGMI joins and where they are; what it does not say is unknown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/locality.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;

constexpr const char* kFile = "tests/topology/data/rocm-smi-3gpu.txt";

std::string text_of_file() {
  std::ifstream in(kFile);
  return {std::istreambuf_iterator<char>(in), {}};
}

Result<Graph> load_text(std::string_view text) {
  test::RecordedTree folder;
  folder.write("/topo.txt", text);
  return load(folder.root() + "/topo.txt");
}

PathClass path_class(const Graph& graph, std::string_view from, std::string_view to) {
  return graph.best_path(graph.find(from).value(), graph.find(to).value()).path_class;
}

TEST(RocmSmi, xgmi_joins_gpus_and_numa_nodes_part_them) {
  const Result<Graph> graph = load(kFile);
  ASSERT_TRUE(graph) << graph.status().to_string();
  EXPECT_TRUE(graph->check().ok());
  EXPECT_EQ(graph->ids(NodeKind::Gpu).size(), 3u);
  EXPECT_EQ(graph->ids(NodeKind::Numa).size(), 2u);
  EXPECT_EQ(std::count_if(graph->links.begin(), graph->links.end(),
                          [](const Link& link) { return link.kind == LinkKind::Xgmi; }),
            1);
  const auto xgmi = std::find_if(graph->links.begin(), graph->links.end(),
                                 [](const Link& link) { return link.kind == LinkKind::Xgmi; });
  EXPECT_EQ(xgmi->count, 0);  // how many is not told
  EXPECT_EQ(path_class(*graph, "gpu0", "gpu1"), PathClass::Nvl);
  EXPECT_EQ(path_class(*graph, "gpu0", "gpu2"), PathClass::Sys);
  Locality locality(*graph);
  EXPECT_EQ(locality.numa_nodes_of(graph->find("gpu2").value()).front(), graph->find("numa1").value());
}

TEST(RocmSmi, pcie_on_one_numa_node_does_not_say_how_near) {
  std::string text = text_of_file();
  for (std::size_t at = 0; (at = text.find("XGMI", at)) != std::string::npos;) text.replace(at, 4, "PCIE");
  const Result<Graph> graph = load_text(text);
  ASSERT_TRUE(graph) << graph.status().to_string();
  EXPECT_EQ(path_class(*graph, "gpu0", "gpu1"), PathClass::Unknown);
}

TEST(RocmSmi, older_versions_write_gpu_numbers_without_brackets) {
  std::string text = text_of_file();
  for (std::size_t at = 0; (at = text.find("GPU[", at)) != std::string::npos;) {
    text.replace(at, 4, "GPU ");
    text.erase(text.find(']', at), 1);
  }
  EXPECT_EQ(*load_text(text), *load(kFile));
}

TEST(RocmSmi, a_gpu_that_is_named_twice_in_one_line_is_refused) {
  const Result<Graph> graph = load_text("== Link Type between two GPUs ==\n GPU0 GPU0\nGPU0 0 XGMI\n");
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message(), HasSubstr("names GPU0 twice in one line"));
}

TEST(RocmSmi, a_cut_text_is_read_as_far_as_it_goes) {
  const std::string text = text_of_file();
  const Result<Graph> weights = load_text(text.substr(0, text.find("=== Hops")));
  ASSERT_TRUE(weights) << weights.status().to_string();
  EXPECT_EQ(weights->ids(NodeKind::Gpu).size(), 3u);
  EXPECT_EQ(path_class(*weights, "gpu0", "gpu1"), PathClass::Unknown);
  const Result<Graph> title = load_text(text.substr(0, text.find("=== Weight")));
  ASSERT_FALSE(title);
  EXPECT_THAT(std::string(title.error().message()), HasSubstr("names no GPUs"));
}

}  // namespace
}  // namespace weft::topology
