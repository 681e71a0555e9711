// Best paths and their classes on machine models and on small graphs made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "weft/graph.hpp"

namespace weft::topology {
namespace {

Graph machine_of(std::string_view line) {
  Result<Graph> graph = model(line);
  EXPECT_TRUE(graph) << graph.status().to_string();
  return graph ? std::move(graph).value() : Graph();
}

Path path_of(const Graph& graph, std::string_view from, std::string_view to) {
  EXPECT_TRUE(graph.find(from)) << from;
  EXPECT_TRUE(graph.find(to)) << to;
  return graph.best_path(graph.find(from).value_or(0), graph.find(to).value_or(0));
}

std::vector<std::string> kinds_of(const Graph& graph, const Path& path) {
  std::vector<std::string> kinds;
  for (const Hop& hop : path.hops) kinds.emplace_back(to_string(graph.links[static_cast<std::size_t>(hop.link)].kind));
  return kinds;
}

TEST(Paths, dgx_h100_gpus_meet_in_the_nvswitch_at_450) {
  const Graph graph = machine_of("dgx-h100");
  const Path path = path_of(graph, "gpu0", "gpu7");
  EXPECT_EQ(path.path_class, PathClass::Nvl);
  EXPECT_DOUBLE_EQ(path.bandwidth_gbs, 450);
  EXPECT_DOUBLE_EQ(path.latency_us, 1.0);
  EXPECT_EQ(path.hops.size(), 2u);
}

TEST(Paths, dgx_h100_gpu_and_its_nic_share_a_switch) {
  const Graph graph = machine_of("dgx-h100");
  const Path path = path_of(graph, "gpu0", "nic0");
  EXPECT_EQ(path.path_class, PathClass::Pix);
  EXPECT_NEAR(path.bandwidth_gbs, 63.0, 0.1);
  EXPECT_EQ(path_of(graph, "gpu0", "nic1").path_class, PathClass::Node);
  EXPECT_EQ(path_of(graph, "gpu0", "nic7").path_class, PathClass::Sys);
  EXPECT_DOUBLE_EQ(path_of(graph, "gpu0", "nic7").bandwidth_gbs, 22);
}

TEST(Paths, gpus_without_nvlink_are_pix_node_or_sys) {
  const Graph graph = machine_of("pcie-8gpu");
  EXPECT_EQ(path_of(graph, "gpu0", "gpu3").path_class, PathClass::Pix);
  EXPECT_EQ(path_of(graph, "gpu0", "gpu4").path_class, PathClass::Sys);
  EXPECT_NEAR(path_of(graph, "gpu0", "gpu3").bandwidth_gbs, 31.5, 0.1);
  EXPECT_DOUBLE_EQ(path_of(graph, "gpu0", "gpu4").bandwidth_gbs, 16);
  const Graph wide = machine_of("gpu:4 gpus_per_switch:2");
  EXPECT_EQ(path_of(wide, "gpu1", "gpu2").path_class, PathClass::Node);
}

TEST(Paths, hosts_meet_in_the_network_through_the_nearest_nics) {
  const Graph graph = machine_of("dgx-h100 hosts:3");
  const Path path = path_of(graph, "host0/gpu2", "host2/gpu5");
  EXPECT_EQ(path.path_class, PathClass::Net);
  EXPECT_DOUBLE_EQ(path.bandwidth_gbs, 50);
  EXPECT_THAT(kinds_of(graph, path), testing::ElementsAre("pci", "pci", "network", "network", "pci", "pci"));
  const int out = graph.links[static_cast<std::size_t>(path.hops[2].link)].a;
  const int in = graph.links[static_cast<std::size_t>(path.hops[3].link)].a;
  EXPECT_EQ(out, graph.find("host0/nic2"));
  EXPECT_EQ(in, graph.find("host2/nic5"));
}

TEST(Paths, two_devices_of_one_host_never_meet_through_the_network) {
  // The NICs (50 GB/s) are wider than the sockets' link (10 GB/s), but a path inside a host stays inside.
  const Graph graph = machine_of("hosts:2 packages:2 gpu:2 gpus_per_switch:1 nic:2 ndr");
  const Path path = path_of(graph, "host0/gpu0", "host0/gpu1");
  EXPECT_EQ(path.path_class, PathClass::Sys);
  EXPECT_DOUBLE_EQ(path.bandwidth_gbs, 10);
}

TEST(Paths, a_node_reaches_itself_with_its_loopback) {
  const Graph graph = machine_of("cpu-2socket");
  const Path path = path_of(graph, "cores0", "cores0");
  EXPECT_EQ(path.path_class, PathClass::Loc);
  EXPECT_TRUE(path.hops.empty());
  EXPECT_EQ(path.binding_link, -1);
  EXPECT_DOUBLE_EQ(path.bandwidth_gbs, 10);
}

TEST(Paths, core_groups_of_two_sockets_are_sys_and_of_one_are_node) {
  EXPECT_EQ(path_of(machine_of("cpu-2socket"), "cores0", "cores1").path_class, PathClass::Sys);
  Graph graph = machine_of("cores:4");
  Node group;
  group.kind = NodeKind::CoreGroup;
  group.name = "second";
  group.parent = *graph.find("numa0");
  const int id = graph.add(group);
  graph.connect(*graph.find("numa0"), id, LinkKind::Internal, 50, 0.1, "assumed");
  EXPECT_EQ(path_of(graph, "cores0", "second").path_class, PathClass::Node);
}

// Nodes of one package; links are added by the test.
struct Sketch {
  Graph graph;
  int machine = add(NodeKind::Machine, "m", -1);
  int add(NodeKind kind, std::string name, int parent) {
    Node node;
    node.kind = kind;
    node.name = std::move(name);
    node.parent = parent;
    return graph.add(node);
  }
};

TEST(Paths, a_short_path_is_not_hidden_by_a_wide_detour_before_the_narrow_link) {
  Sketch s;
  const int a = s.add(NodeKind::Gpu, "a", s.machine);
  const int x = s.add(NodeKind::NvSwitch, "x", s.machine);
  const int y = s.add(NodeKind::NvSwitch, "y", s.machine);
  const int b = s.add(NodeKind::Gpu, "b", s.machine);
  s.graph.connect(a, x, LinkKind::NvLink, 100, 9, "spec");
  s.graph.connect(x, y, LinkKind::NvLink, 100, 9, "spec");
  const int direct = s.graph.connect(a, y, LinkKind::NvLink, 60, 1, "spec");
  const int last = s.graph.connect(y, b, LinkKind::NvLink, 50, 1, "spec");
  const Path path = s.graph.best_path(a, b);
  EXPECT_THAT(path.hops, testing::ElementsAre(Hop{direct, true}, Hop{last, true}));
  EXPECT_DOUBLE_EQ(path.bandwidth_gbs, 50);
  EXPECT_EQ(path.binding_link, last);
  EXPECT_DOUBLE_EQ(path.latency_us, 2);
}

TEST(Paths, gpus_that_a_link_joins_use_it_though_pcie_is_wider) {
  Graph graph = machine_of("gpu:3 gpus_per_switch:4 pcie:5");
  graph.connect(*graph.find("gpu0"), *graph.find("gpu1"), LinkKind::Xgmi, 50, 0.5, "spec");
  EXPECT_EQ(path_of(graph, "gpu0", "gpu1").path_class, PathClass::Nvl);
  EXPECT_DOUBLE_EQ(path_of(graph, "gpu0", "gpu1").bandwidth_gbs, 50);
  EXPECT_EQ(path_of(graph, "gpu0", "gpu2").path_class, PathClass::Pix);
}

TEST(Paths, no_path_goes_through_a_gpu_or_a_nic) {
  Sketch s;
  const int bridge = s.add(NodeKind::PciBridge, "pci", s.machine);
  const int gpu = s.add(NodeKind::Gpu, "gpu", bridge);
  const int nic = s.add(NodeKind::Nic, "nic", bridge);
  const int other = s.add(NodeKind::Gpu, "other", s.machine);
  s.graph.connect(s.machine, bridge, LinkKind::Internal, 100, 1, "spec");
  s.graph.connect(bridge, gpu, LinkKind::Pci, 10, 1, "spec");
  s.graph.connect(gpu, other, LinkKind::NvLink, 100, 1, "spec");
  s.graph.connect(gpu, nic, LinkKind::Pci, 100, 1, "spec");
  EXPECT_EQ(s.graph.best_path(s.machine, other).path_class, PathClass::None);
  EXPECT_EQ(s.graph.best_path(nic, other).path_class, PathClass::None);
  EXPECT_EQ(s.graph.best_path(gpu, other).path_class, PathClass::Nvl);
}

TEST(Paths, several_pci_switches_are_pxb_one_host_bridge_is_phb) {
  Sketch s;
  const int numa = s.add(NodeKind::Numa, "numa0", s.machine);
  const int host_bridge = s.add(NodeKind::PciBridge, "pci0000:00", numa);
  const int upper = s.add(NodeKind::PciSwitch, "s0", host_bridge);
  const int lower = s.add(NodeKind::PciSwitch, "s1", upper);
  const int gpu = s.add(NodeKind::Gpu, "gpu", lower);
  const int near = s.add(NodeKind::Nic, "near", upper);
  const int far = s.add(NodeKind::Nic, "far", host_bridge);
  s.graph.connect(s.machine, numa, LinkKind::Internal, 100, 1, "spec");
  s.graph.connect(numa, host_bridge, LinkKind::Internal, 100, 1, "spec");
  for (auto [a, b] : {std::pair(host_bridge, upper), {upper, lower}, {lower, gpu}, {upper, near}, {host_bridge, far}})
    s.graph.connect(a, b, LinkKind::Pci, 10, 1, "spec");
  EXPECT_EQ(s.graph.best_path(gpu, near).path_class, PathClass::Pxb);
  EXPECT_EQ(s.graph.best_path(gpu, far).path_class, PathClass::Phb);
}

TEST(Paths, many_targets_give_what_single_paths_give) {
  const Graph graph = machine_of("dgx-a100 hosts:2");
  std::vector<int> all(graph.nodes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  for (int from : {*graph.find("host0/gpu3"), *graph.find("host1/nic0"), *graph.find("network0")}) {
    const std::vector<Path> paths = graph.best_paths(from, all);
    for (int to : all)
      EXPECT_EQ(paths[static_cast<std::size_t>(to)], graph.best_path(from, to)) << from << " to " << to;
  }
}

}  // namespace
}  // namespace weft::topology
