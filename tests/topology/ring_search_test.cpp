// The search for rings: what known machines carry, how links are shared, and that it is bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <string>

#include "base/sanitizers.hpp"
#include "topology/ring_rates.hpp"
#include "topology/ring_search.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMost = 8;

Graph machine_of(std::string_view line) {
  Result<Graph> graph = model(line);
  EXPECT_TRUE(graph) << graph.status().to_string();
  return graph ? std::move(graph).value() : Graph();
}

FoundRings search(const Graph& graph) {
  PathFinder finder(graph);
  const FoundRings found = search_rings(finder, graph, graph.ids(NodeKind::Gpu), kMost);
  for (const std::vector<std::size_t>& ring : found.rings) {
    std::vector<std::size_t> sorted = ring;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::size_t> all(graph.ids(NodeKind::Gpu).size());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all);
    EXPECT_EQ(ring.front(), 0u);
  }
  return found;
}

double total_of(const FoundRings& found) {
  return static_cast<double>(found.speed_kbs) * 1e-6 * static_cast<double>(found.rings.size());
}

// No link carries more than it can, in either direction.
void expect_fits(const Graph& graph, const FoundRings& found) {
  const std::vector<int> gpus = graph.ids(NodeKind::Gpu);
  PathFinder finder(graph);
  LinkLoads loads(graph);
  std::vector<Path> steps;
  for (const std::vector<std::size_t>& ring : found.rings)
    for (std::size_t i = 0; i < ring.size(); ++i) {
      steps.push_back(finder.best_path(gpus[ring[i]], gpus[ring[(i + 1) % ring.size()]]));
      loads.add(steps.back());
    }
  for (const Path& step : steps)
    EXPECT_GE(loads.narrowest(step).gbs, static_cast<double>(found.speed_kbs) * 1e-6 * 0.99);
}

Graph cube_mesh() {
  // Eight GPUs of six links each, as NVIDIA's first machines of V100 join them.
  Graph graph = machine_of("packages:2 gpu:8 gpus_per_switch:2 pcie:3");
  struct Joined {
    int a, b, links;
  };
  for (const auto& [a, b, links] : {Joined{0, 1, 1},
                                    {0, 2, 1},
                                    {0, 3, 2},
                                    {0, 4, 2},
                                    {1, 2, 2},
                                    {1, 3, 1},
                                    {1, 5, 2},
                                    {2, 3, 2},
                                    {2, 6, 1},
                                    {3, 7, 1},
                                    {4, 5, 1},
                                    {4, 6, 1},
                                    {4, 7, 2},
                                    {5, 6, 2},
                                    {5, 7, 1},
                                    {6, 7, 2}})
    graph.connect(*graph.find("gpu" + std::to_string(a)), *graph.find("gpu" + std::to_string(b)), LinkKind::NvLink,
                  25.0 * links, 1, "spec", links);
  return graph;
}

TEST(RingSearch, a_cube_mesh_of_six_links_carries_six_rings) {
  const Graph graph = cube_mesh();
  const FoundRings found = search(graph);
  EXPECT_EQ(found.rings.size(), 6u);
  EXPECT_DOUBLE_EQ(total_of(found), 150);
  expect_fits(graph, found);
}

TEST(RingSearch, all_to_all_links_of_eight_are_all_used) {
  const Graph graph = machine_of("gpu:8 nvlink:64");
  const FoundRings found = search(graph);
  EXPECT_EQ(found.rings.size(), 7u);
  EXPECT_DOUBLE_EQ(total_of(found), 448);
  expect_fits(graph, found);
}

TEST(RingSearch, rings_over_a_switch_share_what_each_gpu_has) {
  const Graph graph = machine_of("dgx-h100");
  const FoundRings found = search(graph);
  EXPECT_EQ(found.rings.size(), kMost);
  EXPECT_NEAR(total_of(found), 450, 1);
  expect_fits(graph, found);
}

TEST(RingSearch, a_pcie_machine_has_one_ring_that_crosses_the_sockets_twice) {
  const Graph graph = machine_of("pcie-8gpu");
  const FoundRings found = search(graph);
  ASSERT_EQ(found.rings.size(), 1u);
  EXPECT_EQ(found.rings[0], (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_DOUBLE_EQ(total_of(found), 16);
}

TEST(RingSearch, bridged_pairs_are_neighbours_on_the_ring) {
  Graph graph = machine_of("gpu:4 gpus_per_switch:1 cores:4 pcie:3");
  const auto join = [&](const char* a, const char* b) {
    graph.connect(*graph.find(a), *graph.find(b), LinkKind::NvLink, 56, 1, "spec", 4);
  };
  join("gpu0", "gpu2");
  join("gpu1", "gpu3");
  const FoundRings found = search(graph);
  ASSERT_FALSE(found.rings.empty());
  const std::vector<std::size_t>& ring = found.rings[0];
  const auto neighbours = [&](std::size_t a, std::size_t b) {
    for (std::size_t i = 0; i < 4; ++i)
      if ((ring[i] == a && ring[(i + 1) % 4] == b) || (ring[i] == b && ring[(i + 1) % 4] == a)) return true;
    return false;
  };
  EXPECT_TRUE(neighbours(0, 2));
  EXPECT_TRUE(neighbours(1, 3));
}

TEST(RingSearch, what_shares_a_narrow_link_counts_once) {
  // Each GPU below a switch of its own, all switches below one bridge whose way to memory is not on the ring.
  Graph graph = machine_of("gpu:4 gpus_per_switch:4 pcie:3 cores:4");
  const FoundRings found = search(graph);
  ASSERT_EQ(found.rings.size(), 1u);
  EXPECT_NEAR(total_of(found), 15.75, 0.01);
  expect_fits(graph, found);
}

TEST(RingSearch, is_the_same_every_time_and_bounded) {
  const Graph graph = machine_of("gpu:16 nvlink:50 packages:2 gpus_per_switch:2");
  const auto start = std::chrono::steady_clock::now();
  const FoundRings once = search(graph);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(once.rings, search(graph).rings);
#if !WEFT_ADDRESS_SANITIZER && !WEFT_THREAD_SANITIZER
  EXPECT_LT(took, std::chrono::seconds(2));
#endif
}

TEST(RingRates, rings_on_shared_links_are_told_their_share) {
  const Graph graph = machine_of("dgx-h100");
  const std::vector<int> placement = *place(graph, 8);
  const Group group = make_group(graph, placement);
  PathFinder finder(graph);
  const std::vector<RingRate> rates = ring_rates(graph, finder, placement, group.rings);
  ASSERT_EQ(rates.size(), kMost);
  EXPECT_DOUBLE_EQ(rates[0].narrowest.bandwidth_gbs, 450);
  EXPECT_DOUBLE_EQ(rates[0].shared.gbs, 450.0 / 8);
  EXPECT_EQ(rates[0].shared.paths, 8);
  EXPECT_DOUBLE_EQ(total_gbs(rates), 450);
}

}  // namespace
}  // namespace weft::topology
