// place() and make_group(): where ranks run, and the rings and trees laid over them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "base/sanitizers.hpp"
#include "topology/path_finder.hpp"
#include "topology/ring_rates.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

Graph machine_of(std::string_view line) {
  Result<Graph> graph = model(line);
  EXPECT_TRUE(graph) << graph.status().to_string();
  return graph ? std::move(graph).value() : Graph();
}

Group group_of(const Graph& graph, int ranks) {
  Result<std::vector<int>> placement = place(graph, ranks);
  EXPECT_TRUE(placement) << placement.status().to_string();
  return make_group(graph, *placement);
}

void expect_permutations(const Group& group) {
  for (const std::vector<int>& ring : group.rings) {
    std::vector<int> sorted = ring;
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> all(static_cast<std::size_t>(group.size));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all);
  }
  EXPECT_EQ(group.trees.size(), 2 * group.rings.size());
}

// The ranks of each host stand together in every ring.
void expect_hosts_consecutive(const Group& group) {
  std::map<int, std::size_t> host_of;
  for (std::size_t h = 0; h < group.hosts.size(); ++h)
    for (int rank : group.hosts[h]) host_of[rank] = h;
  for (const std::vector<int>& ring : group.rings) {
    std::size_t changes = 0;
    for (std::size_t i = 0; i < ring.size(); ++i) changes += host_of[ring[i]] != host_of[ring[(i + 1) % ring.size()]];
    EXPECT_EQ(changes, group.hosts.size() > 1 ? group.hosts.size() : 0);
  }
}

double bottleneck(const Graph& graph, const std::vector<int>& placement, const std::vector<int>& ring) {
  double narrowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const int from = placement[static_cast<std::size_t>(ring[i])];
    const int to = placement[static_cast<std::size_t>(ring[(i + 1) % ring.size()])];
    narrowest = std::min(narrowest, graph.best_path(from, to).bandwidth_gbs);
  }
  return narrowest;
}

TEST(Place, gpus_are_taken_in_order_and_hosts_evenly) {
  const Graph graph = machine_of("dgx-h100 hosts:2");
  const std::vector<int> placement = *place(graph, 4);
  EXPECT_THAT(placement, testing::ElementsAre(*graph.find("host0/gpu0"), *graph.find("host0/gpu1"),
                                              *graph.find("host1/gpu0"), *graph.find("host1/gpu1")));
  EXPECT_EQ(place(graph, 16)->back(), graph.find("host1/gpu7"));
  EXPECT_EQ(place(graph, 9, 8)->back(), graph.find("host1/gpu0"));
}

TEST(Place, more_ranks_than_gpus_are_refused) {
  const Result<std::vector<int>> placement = place(machine_of("dgx-h100"), 9);
  ASSERT_FALSE(placement);
  EXPECT_EQ(placement.error().code(), Code::InvalidArgument);
  EXPECT_THAT(std::string(placement.error().message()), testing::HasSubstr("8 GPUs"));
  EXPECT_FALSE(place(machine_of("cpu-2socket"), 0));
  EXPECT_FALSE(place(machine_of("cpu-2socket hosts:2"), 9, 4));
}

TEST(Place, ranks_share_core_groups_evenly_where_there_are_no_gpus) {
  const Graph graph = machine_of("cpu-2socket");
  EXPECT_THAT(*place(graph, 4), testing::ElementsAre(*graph.find("cores0"), *graph.find("cores0"),
                                                     *graph.find("cores1"), *graph.find("cores1")));
  EXPECT_THAT(*place(graph, 1), testing::ElementsAre(*graph.find("cores0")));
}

TEST(MakeGroup, one_rank_is_a_ring_of_itself) {
  const Group group = group_of(machine_of("cpu-2socket"), 1);
  EXPECT_EQ(group.rings, (std::vector<std::vector<int>>{{0}}));
  EXPECT_EQ(group.trees[0].parent, std::vector<int>{-1});
}

TEST(MakeGroup, rings_and_hosts_are_sound_on_all_models) {
  for (const char* line : {"dgx-h100 hosts:4", "dgx-a100 hosts:3", "p5.48xlarge hosts:2", "pcie-8gpu hosts:2",
                           "dgx-h100", "gpu:8 nvlink:64", "gpu:5 nvlink:25 hosts:3 nic:2 hdr", "pcie-8gpu"}) {
    SCOPED_TRACE(line);
    const Graph graph = machine_of(line);
    const Group group = group_of(graph, static_cast<int>(graph.ids(NodeKind::Gpu).size()));
    expect_permutations(group);
    expect_hosts_consecutive(group);
  }
}

TEST(MakeGroup, neighbours_on_a_pcie_machine_cross_the_sockets_twice) {
  const Graph graph = machine_of("pcie-8gpu");
  const Group group = group_of(graph, 8);
  ASSERT_EQ(group.rings.size(), 1u);
  EXPECT_THAT(group.rings[0], testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(MakeGroup, ring_k_enters_and_leaves_hosts_at_other_nics) {
  const Graph graph = machine_of("dgx-h100 hosts:2");
  const std::vector<int> placement = *place(graph, 16);
  const Group group = make_group(graph, placement);
  ASSERT_EQ(group.rings.size(), 8u);
  std::set<int> out_nics;
  std::set<int> in_nics;
  for (const std::vector<int>& ring : group.rings) {
    EXPECT_DOUBLE_EQ(bottleneck(graph, placement, ring), 50);
    const Path path =
        graph.best_path(placement[static_cast<std::size_t>(ring[7])], placement[static_cast<std::size_t>(ring[8])]);
    ASSERT_EQ(path.path_class, PathClass::Net);
    out_nics.insert(graph.links[static_cast<std::size_t>(path.hops[2].link)].a);
    in_nics.insert(graph.links[static_cast<std::size_t>(path.hops[3].link)].a);
  }
  EXPECT_EQ(out_nics.size(), 8u);
  EXPECT_EQ(in_nics.size(), 8u);
}

// Steps between hosts that are longer than one from a GPU to the same GPU of the next host: these cross from rail to
// rail, in the network or inside a host.
int crossings(const Graph& graph, const std::vector<int>& placement, const Group& group) {
  PathFinder finder(graph);
  const std::size_t shortest = finder.best_path(*graph.find("host0/gpu0"), *graph.find("host1/gpu0")).hops.size();
  int crossings = 0;
  for (const std::vector<int>& ring : group.rings)
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Path path = finder.best_path(placement[static_cast<std::size_t>(ring[i])],
                                         placement[static_cast<std::size_t>(ring[(i + 1) % ring.size()])]);
      if (path.path_class == PathClass::Net && path.hops.size() > shortest) ++crossings;
    }
  return crossings;
}

TEST(MakeGroup, rings_leave_and_enter_hosts_on_one_rail) {
  for (const char* line :
       {"dgx-h100 hosts:2 fabric:rail", "dgx-h100 hosts:3 fabric:rail", "dgx-h100 hosts:4 fabric:rail",
        "dgx-h100 hosts:5 fabric:rail", "dgx-h100 hosts:16 fabric:rail", "dgx-a100 hosts:4 fabric:rail",
        "gpu:8 gpus_per_switch:2 nvswitch:450 nic:4 ndr hosts:3 fabric:rail"}) {
    SCOPED_TRACE(line);
    const Graph graph = machine_of(line);
    const std::vector<int> placement = *place(graph, static_cast<int>(graph.ids(NodeKind::Gpu).size()));
    const Group group = make_group(graph, placement);
    EXPECT_EQ(group.rings.size(), graph.ids(NodeKind::Nic).size() / static_cast<std::size_t>(graph.hosts()));
    expect_permutations(group);
    expect_hosts_consecutive(group);
    EXPECT_EQ(crossings(graph, placement, group), 0);
  }
}

TEST(MakeGroup, rings_of_an_odd_number_of_hosts_on_one_cycle_cross_rails_at_one_place) {
  const Graph graph = machine_of("gpu:4 gpus_per_switch:1 nic:4 ndr hosts:3 fabric:rail");
  const std::vector<int> placement = *place(graph, 12);
  const Group group = make_group(graph, placement);
  expect_permutations(group);
  EXPECT_EQ(crossings(graph, placement, group), static_cast<int>(group.rings.size()));
}

TEST(MakeGroup, rails_are_kept_only_where_that_is_no_slower) {
  // One link between any two GPUs: ways through a host that keep to the rails would share them.
  const Graph graph = machine_of("gpu:8 nvlink:25 nic:8 hdr hosts:4 fabric:rail");
  const std::vector<int> placement = *place(graph, 32);
  PathFinder finder(graph);
  EXPECT_GE(total_gbs(ring_rates(graph, finder, placement, make_group(graph, placement).rings)), 100);
}

TEST(MakeGroup, rails_are_judged_on_all_hosts_where_they_are_not_alike) {
  Graph graph = machine_of("gpu:8 nvlink:25 nic:8 hdr hosts:4 fabric:rail");
  for (Link& link : graph.links)  // the first two have links enough for any way
    if (link.kind == LinkKind::NvLink && graph.nodes[static_cast<std::size_t>(link.a)].host < 2)
      link.bandwidth_gbs = 300;
  const std::vector<int> placement = *place(graph, 32);
  PathFinder finder(graph);
  EXPECT_GE(total_gbs(ring_rates(graph, finder, placement, make_group(graph, placement).rings)), 100);
}

TEST(MakeGroup, a_host_whose_ports_are_down_is_on_no_rail) {
  Graph graph = machine_of("dgx-h100 hosts:3 fabric:rail");
  for (Node& node : graph.nodes)
    if (node.host == 1 && node.kind == NodeKind::Nic) node.active = false;
  const Group group = group_of(graph, 24);
  EXPECT_EQ(group.rings.size(), 1u);
  expect_permutations(group);
  expect_hosts_consecutive(group);
}

TEST(MakeGroup, the_ring_follows_the_wide_links_of_a_cube_mesh) {
  // Four GPUs: 0-2 and 1-3 have two links, 0-1, 2-3 and 0-3, 1-2 one: the widest cycle that exists has width 25 and
  // must avoid no pair; removing 0-1 leaves only 0-2-1-3 and its like.
  Graph graph = machine_of("gpu:4 gpus_per_switch:4");
  const auto gpu = [&](int i) { return *graph.find("gpu" + std::to_string(i)); };
  for (auto [a, b] : {std::pair(0, 2), {2, 1}, {1, 3}, {3, 0}})
    graph.connect(gpu(a), gpu(b), LinkKind::NvLink, 100, 1, "spec", 4);
  const Group group = group_of(graph, 4);
  EXPECT_THAT(group.rings[0], testing::ElementsAre(0, 2, 1, 3));
  EXPECT_DOUBLE_EQ(bottleneck(graph, *place(graph, 4), group.rings[0]), 100);
}

TEST(MakeGroup, rings_over_direct_links_use_no_link_twice_in_one_direction) {
  const Group group = group_of(machine_of("gpu:8 nvlink:64"), 8);
  EXPECT_GE(group.rings.size(), 4u);
  std::set<std::pair<int, int>> used;
  for (const std::vector<int>& ring : group.rings)
    for (std::size_t i = 0; i < 8; ++i) EXPECT_TRUE(used.emplace(ring[i], ring[(i + 1) % 8]).second);
}

TEST(MakeGroup, ranks_on_one_core_group_are_neighbours) {
  const Group group = group_of(machine_of("cpu-2socket hosts:2"), 8);
  ASSERT_EQ(group.rings.size(), 1u);
  EXPECT_THAT(group.rings[0], testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(group.hosts, (std::vector<std::vector<int>>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

TEST(MakeGroup, ranks_placed_in_any_order_are_regrouped_by_host) {
  const Graph graph = machine_of("dgx-h100 hosts:2");
  std::vector<int> placement;
  for (int i = 0; i < 8; ++i)
    for (const char* host : {"host1/gpu", "host0/gpu"}) placement.push_back(*graph.find(host + std::to_string(i)));
  const Group group = make_group(graph, placement);
  expect_permutations(group);
  expect_hosts_consecutive(group);
  EXPECT_EQ(group.hosts[0], (std::vector<int>{1, 3, 5, 7, 9, 11, 13, 15}));
}

TEST(MakeGroup, a_thousand_ranks_take_less_than_a_second) {
  const Graph graph = machine_of("dgx-h100 hosts:128");
  const auto start = std::chrono::steady_clock::now();
  const Group group = group_of(graph, 1024);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(group.rings.size(), 8u);
#if !WEFT_ADDRESS_SANITIZER && !WEFT_THREAD_SANITIZER
  EXPECT_LT(took, std::chrono::seconds(1));
#endif
  RecordProperty("milliseconds", static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
}

TEST(MakeGroup, is_the_same_every_time) {
  const Graph graph = machine_of("dgx-a100 hosts:3");
  EXPECT_EQ(group_of(graph, 24), group_of(graph, 24));
}

}  // namespace
}  // namespace weft::topology
