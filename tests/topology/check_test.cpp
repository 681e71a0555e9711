// Graph::check(), find(), ids() and merge().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;

// What check() says of a two-host machine after one change.
std::string complaint(const std::function<void(Graph&)>& change) {
  Graph graph = *model("dgx-h100 hosts:2");
  change(graph);
  return std::string(graph.check().message());
}

TEST(Check, a_sound_graph_passes) {
  EXPECT_EQ(complaint([](Graph&) {}), "");
}

TEST(Check, each_broken_invariant_is_named) {
  EXPECT_THAT(complaint([](Graph& g) { g.nodes[3].id = 4; }), HasSubstr("node 3 carries the id 4"));
  EXPECT_THAT(complaint([](Graph& g) { g.nodes[3].parent = 3; }), HasSubstr("parent 3"));
  EXPECT_THAT(complaint([](Graph& g) { g.nodes[3].parent = 1'000'000; }), HasSubstr("no other node"));
  EXPECT_THAT(complaint([](Graph& g) { g.nodes[1].parent = 2, g.nodes[2].parent = 1; }), HasSubstr("its own ancestor"));
  EXPECT_THAT(complaint([](Graph& g) { g.nodes[2].name = g.nodes[1].name; }), HasSubstr("occurs twice on host 0"));
  EXPECT_THAT(complaint([](Graph& g) { g.nodes[2].name = ""; }), HasSubstr("not empty"));
  EXPECT_THAT(complaint([](Graph& g) { g.nodes[2].name = "a/b"; }), HasSubstr("a/b"));
  EXPECT_THAT(complaint([](Graph& g) { g.nodes.back().host = 0; }), HasSubstr("network switches have -1"));
  EXPECT_THAT(complaint([](Graph& g) { g.nodes[2].host = -7; }), HasSubstr("host -7"));
  EXPECT_THAT(complaint([](Graph& g) { g.links[0].b = -1; }), HasSubstr("link 0"));
  EXPECT_THAT(complaint([](Graph& g) { g.links[0].bandwidth_gbs = 0; }), HasSubstr("link 0 has bandwidth 0"));
  EXPECT_THAT(complaint([](Graph& g) { g.links[0].bandwidth_gbs = std::numeric_limits<double>::quiet_NaN(); }),
              HasSubstr("bandwidth nan"));
  EXPECT_THAT(complaint([](Graph& g) { g.links[0].latency_us = -1; }), HasSubstr("latency -1"));
  EXPECT_THAT(complaint([](Graph& g) { g.links[0].count = 0; }), HasSubstr("count 0"));
  EXPECT_THAT(complaint([](Graph& g) { g.nodes[2].pci.width = 0; }), HasSubstr("width"));
  EXPECT_THAT(complaint([](Graph& g) { g.nodes[0].kind = NodeKind::Package; }), HasSubstr("host"));
  EXPECT_THAT(
      complaint([](Graph& g) { g.connect(*g.find("host0/gpu0"), *g.find("host1/gpu0"), LinkKind::NvLink, 1, 1, "x"); }),
      HasSubstr("between two hosts"));
  EXPECT_THAT(complaint([](Graph& g) {
                std::erase_if(g.links, [&](const Link& l) { return l.b == *g.find("host1/cores0"); });
              }),
              HasSubstr("has no path to its machine"));
  EXPECT_THAT(std::string(Graph().check().message()), HasSubstr("no machine"));
}

TEST(Find, names_need_a_host_where_they_are_not_unique) {
  const Graph cluster = *model("dgx-h100 hosts:2");
  EXPECT_EQ(cluster.find("gpu0"), std::nullopt);
  EXPECT_EQ(cluster.nodes[static_cast<std::size_t>(*cluster.find("host1/gpu0"))].host, 1);
  EXPECT_EQ(cluster.find("host2/gpu0"), std::nullopt);
  EXPECT_EQ(cluster.find("elsewhere/gpu0"), std::nullopt);
  EXPECT_TRUE(cluster.find("network0"));
  EXPECT_TRUE(model("dgx-h100")->find("gpu7"));
  EXPECT_EQ(model("dgx-h100")->find("gpu8"), std::nullopt);
}

Graph machine_named(std::string_view line, std::string name) {
  Graph graph = *model(line);
  graph.name = name;
  graph.nodes[0].name = std::move(name);
  return graph;
}

TEST(Merge, hosts_keep_their_order_and_meet_in_one_switch) {
  const Result<Graph> cluster = merge({machine_named("dgx-h100", "b"), machine_named("dgx-a100", "a")});
  ASSERT_TRUE(cluster) << cluster.status().to_string();
  EXPECT_TRUE(cluster->check().ok()) << cluster->check().to_string();
  EXPECT_EQ(cluster->hosts(), 2);
  EXPECT_EQ(cluster->nodes[static_cast<std::size_t>(*cluster->find("b/gpu0"))].host, 0);
  const Path path = cluster->best_path(*cluster->find("b/gpu0"), *cluster->find("a/gpu0"));
  EXPECT_EQ(path.path_class, PathClass::Net);
  EXPECT_DOUBLE_EQ(path.bandwidth_gbs, 25);
}

TEST(Merge, identical_hosts_give_what_the_model_of_two_hosts_gives) {
  const Graph one = *model("dgx-h100");
  EXPECT_EQ(merge({one, one})->links, model("dgx-h100 hosts:2")->links);
}

TEST(Merge, hosts_with_ethernet_only_or_without_nics_are_joined) {
  const Result<Graph> cluster = merge({*model("cores:2"), *model("cores:2 nic:1 eth:25"), *model("cores:2 nic:1 ndr")});
  ASSERT_TRUE(cluster) << cluster.status().to_string();
  EXPECT_TRUE(cluster->check().ok());
  const auto rate = [&](std::string_view from, std::string_view to) {
    return cluster->best_path(*cluster->find(from), *cluster->find(to)).bandwidth_gbs;
  };
  EXPECT_DOUBLE_EQ(rate("host1/cores0", "host2/cores0"), 3.125);
  EXPECT_DOUBLE_EQ(rate("host0/cores0", "host2/cores0"), 1.25);
}

TEST(Merge, a_nic_whose_port_is_down_carries_nothing) {
  Graph one = *model("cores:2 nic:2 ndr");
  one.nodes[static_cast<std::size_t>(*one.find("nic0"))].active = false;
  const Graph cluster = *merge({one, one});
  EXPECT_EQ(cluster.best_path(*cluster.find("host0/nic0"), *cluster.find("network0")).hops.size(), 5u);
  EXPECT_EQ(cluster.best_path(*cluster.find("host0/nic1"), *cluster.find("network0")).hops.size(), 1u);
}

TEST(Merge, one_host_stays_as_it_is_and_none_is_refused) {
  EXPECT_EQ(*merge({*model("dgx-h100")}), *model("dgx-h100"));
  EXPECT_FALSE(merge({}));
  Graph broken = *model("cores:1");
  broken.nodes[1].id = 9;
  EXPECT_THAT(std::string(merge({*model("cores:1"), broken}).error().message()), HasSubstr("machine 1"));
}

TEST(Merge, is_linear_in_hosts) {
  const std::vector<Graph> hosts(2048, *model("dgx-h100"));
  const Result<Graph> cluster = merge(hosts);
  ASSERT_TRUE(cluster) << cluster.status().to_string();
  EXPECT_EQ(cluster->hosts(), 2048);
  EXPECT_TRUE(cluster->check().ok());
}

}  // namespace
}  // namespace weft::topology
