// Classes that a source states: they name the paths that no bridges explain, survive JSON and merge, and are checked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;

// Three GPUs that hang on the machine; gpu0 and gpu1 are stated to be PIX, gpu1 and gpu2 to be unknown.
Graph three_gpus() {
  Graph graph;
  graph.name = "sketch";
  Node machine;
  machine.name = "machine";
  const int home = graph.add(machine);
  for (const char* name : {"gpu0", "gpu1", "gpu2"}) {
    Node gpu;
    gpu.kind = NodeKind::Gpu;
    gpu.name = name;
    gpu.parent = home;
    graph.connect(home, graph.add(gpu), LinkKind::Pci, 10, 1, "assumed");
  }
  graph.stated = {{1, 2, PathClass::Pix}, {2, 3, PathClass::Unknown}};
  return graph;
}

std::string broken(std::vector<StatedClass> stated) {
  Graph graph = three_gpus();
  graph.stated = std::move(stated);
  return std::string(graph.check().message());
}

TEST(StatedClass, names_the_path_in_both_directions) {
  const Graph graph = three_gpus();
  ASSERT_TRUE(graph.check().ok()) << graph.check().to_string();
  EXPECT_EQ(graph.best_path(1, 2).path_class, PathClass::Pix);
  EXPECT_EQ(graph.best_path(2, 1).path_class, PathClass::Pix);
  EXPECT_EQ(graph.best_path(3, 2).path_class, PathClass::Unknown);
  EXPECT_EQ(graph.best_path(1, 3).path_class, PathClass::Sys);  // nothing is stated; it passes the machine
  EXPECT_EQ(graph.best_path(1, 1).path_class, PathClass::Loc);
}

TEST(StatedClass, does_not_hide_nvlink) {
  Graph graph = three_gpus();
  graph.connect(1, 2, LinkKind::NvLink, 100, 1, "assumed");
  EXPECT_EQ(graph.best_path(1, 2).path_class, PathClass::Nvl);
}

TEST(StatedClass, survives_json_and_merge) {
  const Graph graph = three_gpus();
  EXPECT_EQ(*from_json(to_json(graph)), graph);
  const Result<Graph> pair = merge({graph, graph});
  ASSERT_TRUE(pair) << pair.status().to_string();
  EXPECT_EQ(pair->best_path(*pair->find("host1/gpu0"), *pair->find("host1/gpu1")).path_class, PathClass::Pix);
  EXPECT_EQ(pair->best_path(*pair->find("host0/gpu0"), *pair->find("host1/gpu1")).path_class, PathClass::Net);
}

TEST(StatedClass, makes_machines_unlike) {
  Graph other = three_gpus();
  other.stated.front().path_class = PathClass::Sys;
  EXPECT_NE(fingerprint(other), fingerprint(three_gpus()));
}

TEST(StatedClass, is_stated_once_for_a_pair_of_one_host) {
  EXPECT_THAT(broken({{1, 9, PathClass::Pix}}), HasSubstr("not two nodes in order"));
  EXPECT_THAT(broken({{2, 1, PathClass::Pix}}), HasSubstr("not two nodes in order"));
  EXPECT_THAT(broken({{1, 2, PathClass::Pix}, {1, 2, PathClass::Pxb}}), HasSubstr("is stated twice"));
  for (PathClass wrong : {PathClass::Loc, PathClass::Nvl, PathClass::Net, PathClass::None})
    EXPECT_THAT(broken({{1, 2, wrong}}), HasSubstr("PIX to SYS and UNKNOWN can be stated"));
}

}  // namespace
}  // namespace weft::topology
