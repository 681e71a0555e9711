// Audit rules: each fires where it should and stays silent where it must.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "topology/audit/audit.hpp"
#include "weft/graph.hpp"

namespace weft::topology::audit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> audit_of(const Graph& graph, const HostFacts& facts = {}) {
  Survey survey;
  survey.graph = graph;
  survey.hosts = {facts};
  return audit(survey);
}

// A process with these limits.
HostFacts limits(std::optional<std::uint64_t> memlock_bytes, std::optional<bool> may_lock_all,
                 std::optional<std::uint64_t> shm_bytes) {
  HostFacts facts;
  facts.process.memlock_bytes = memlock_bytes;
  facts.process.may_lock_all = may_lock_all;
  facts.container.shm_bytes = shm_bytes;
  return facts;
}

std::vector<std::string> subjects(const Graph& graph, std::string_view rule, const HostFacts& facts = {}) {
  std::vector<std::string> found;
  for (const Finding& finding : audit_of(graph, facts))
    if (finding.id == rule) found.push_back(finding.subject);
  return found;
}

Node& node_of(Graph& graph, std::string_view name) { return graph.nodes[static_cast<std::size_t>(*graph.find(name))]; }

// A GPU and a NIC, each below a root port of its own that can do gen5 x16.
Graph with_ports() {
  Graph graph = *model("gpu:1 gpus_per_switch:1 nic:1 ndr");
  node_of(graph, "gpu0").device = "10de:2330";
  node_of(graph, "nic0").device = "15b3:1021";
  for (const char* device : {"gpu0", "nic0"}) {
    Node port;
    port.kind = NodeKind::PciBridge;
    port.name = std::string("port-") + device;
    port.parent = *graph.find("switch0");
    port.device = "1000:c030";
    port.pci = PciLink{32.0, 16, 32.0, 16};
    const int id = graph.add(port);
    graph.connect(*graph.find("switch0"), id, LinkKind::Pci, 63, 0.1, "spec");
    node_of(graph, device).parent = id;
    graph.connect(id, *graph.find(device), LinkKind::Pci, 63, 0.1, "spec");
  }
  EXPECT_TRUE(graph.check().ok()) << graph.check().to_string();
  return graph;
}

TEST(Audit, healthy_machines_have_no_findings) {
  for (std::string_view name : model_names()) EXPECT_THAT(audit_of(*model(name)), IsEmpty()) << name;
  EXPECT_THAT(audit_of(with_ports()), IsEmpty());
}

TEST(Audit, rules_have_unique_ids_and_say_what_to_do) {
  std::set<std::string_view> ids;
  for (const Rule* rule : rules()) {
    EXPECT_TRUE(ids.insert(rule->id).second) << rule->id;
    EXPECT_FALSE(rule->summary.empty() || rule->fix.empty()) << rule->id;
  }
  EXPECT_GE(ids.size(), 6u);
}

TEST(Audit, severe_findings_come_first) {
  Graph graph = with_ports();
  node_of(graph, "nic0").pci.width = 8;
  const std::vector<Finding> findings = audit_of(graph, limits(std::uint64_t{65536}, false, std::uint64_t{64} << 20));
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].id, "memlock-limit-low");
  EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(),
                             [](const Finding& a, const Finding& b) { return a.severity > b.severity; }));
}

TEST(PcieLinkDowngraded, fires_on_fewer_lanes_than_both_ends_have) {
  Graph graph = with_ports();
  node_of(graph, "nic0").pci.width = 8;
  EXPECT_THAT(subjects(graph, "pcie-link-downgraded"), ElementsAre("nic0"));
  EXPECT_THAT(audit_of(graph)[0].evidence, HasSubstr("runs with 8 lanes"));
  node_of(graph, "gpu0").pci.width = 4;
  EXPECT_EQ(subjects(graph, "pcie-link-downgraded").size(), 2u);
}

TEST(PcieLinkDowngraded, fires_on_a_slow_nic_but_not_on_an_idle_gpu) {
  Graph graph = with_ports();
  node_of(graph, "gpu0").pci.gts = 2.5;
  EXPECT_THAT(subjects(graph, "pcie-link-downgraded"), IsEmpty());
  node_of(graph, "gpu0").device = "1002:74a1";
  EXPECT_THAT(subjects(graph, "pcie-link-downgraded"), IsEmpty());
  node_of(graph, "nic0").pci.gts = 16;
  EXPECT_THAT(subjects(graph, "pcie-link-downgraded"), ElementsAre("nic0"));
}

TEST(PcieLinkDowngraded, is_silent_where_the_slot_can_do_no_more) {
  Graph graph = with_ports();
  node_of(graph, "nic0").pci = PciLink{16.0, 8, 32.0, 16};
  node_of(graph, "port-nic0").pci = PciLink{16.0, 8, 16.0, 8};
  EXPECT_THAT(subjects(graph, "pcie-link-downgraded"), IsEmpty());
}

TEST(PcieLinkDowngraded, is_silent_where_an_end_tells_nothing_or_is_emulated) {
  Graph graph = with_ports();
  node_of(graph, "nic0").pci.width = 4;
  node_of(graph, "port-nic0").pci = PciLink();
  EXPECT_THAT(subjects(graph, "pcie-link-downgraded"), IsEmpty());
  node_of(graph, "port-nic0").pci = PciLink{2.5, 1, 32.0, 32};
  node_of(graph, "port-nic0").device = "1b36:000c";  // QEMU's root port
  EXPECT_THAT(subjects(graph, "pcie-link-downgraded"), IsEmpty());
}

TEST(GpuFarFromNic, fires_where_the_only_nic_is_on_another_socket) {
  EXPECT_THAT(subjects(*model("packages:2 gpu:4 gpus_per_switch:2 nic:1 ndr"), "gpu-far-from-nic"),
              ElementsAre("gpu0", "gpu1"));
  EXPECT_THAT(subjects(*model("packages:2 gpu:4 nic:2 ndr"), "gpu-far-from-nic"), IsEmpty());
  EXPECT_THAT(subjects(*model("packages:2 gpu:4"), "gpu-far-from-nic"), IsEmpty());
  EXPECT_THAT(subjects(*model("packages:2 gpu:4 nic:1 eth:25"), "gpu-far-from-nic"), IsEmpty());
}

TEST(NicOnWrongSocket, fires_only_while_a_gpu_lacks_a_nic) {
  // Both GPUs on socket 0, the only NIC on socket 1.
  Graph graph = *model("packages:2 gpu:2 gpus_per_switch:1 nic:2 ndr");
  const auto move = [&](const char* device, const char* to) {
    const int id = *graph.find(device);
    for (Link& link : graph.links)
      if (link.b == id && link.a == node_of(graph, device).parent) link.a = *graph.find(to);
    node_of(graph, device).parent = *graph.find(to);
  };
  EXPECT_THAT(subjects(graph, "nic-on-wrong-socket"), IsEmpty());
  move("gpu1", "switch0");
  EXPECT_THAT(subjects(graph, "nic-on-wrong-socket"), IsEmpty());  // nic0 serves both GPUs
  move("nic0", "switch1");
  EXPECT_THAT(subjects(graph, "nic-on-wrong-socket"), ElementsAre("nic0", "nic1"));
  for (const char* nic : {"nic0", "nic1"}) node_of(graph, nic).active = false;
  EXPECT_THAT(subjects(graph, "nic-on-wrong-socket"), IsEmpty());
}

TEST(NumaNodeUnknown, fires_on_devices_of_the_machine_alone) {
  Graph graph = *model("packages:2 gpu:1");
  const int bridge = *graph.find("pci0");
  for (Link& link : graph.links)
    if (link.b == bridge) link.a = 0;
  node_of(graph, "pci0").parent = 0;
  node_of(graph, "gpu0").cpus = graph.nodes[0].cpus;
  EXPECT_THAT(subjects(graph, "numa-node-unknown"), ElementsAre("gpu0"));
  node_of(graph, "gpu0").cpus = "0";  // near some CPUs: known, only not one node
  EXPECT_THAT(subjects(graph, "numa-node-unknown"), IsEmpty());
  EXPECT_THAT(subjects(*model("packages:1 gpu:1"), "numa-node-unknown"), IsEmpty());
}

TEST(MemlockLimitLow, fires_only_with_rdma_and_without_the_capability) {
  const Graph rdma = *model("nic:1 ndr");
  const std::uint64_t low = 8 << 20;
  EXPECT_EQ(subjects(rdma, "memlock-limit-low", limits(low, false, {})).size(), 1u);
  EXPECT_EQ(subjects(rdma, "memlock-limit-low", limits(low, {}, {})).size(), 1u);
  EXPECT_THAT(subjects(rdma, "memlock-limit-low", limits(low, true, {})), IsEmpty());
  EXPECT_THAT(subjects(rdma, "memlock-limit-low", limits(std::numeric_limits<std::uint64_t>::max(), false, {})),
              IsEmpty());
  EXPECT_THAT(subjects(rdma, "memlock-limit-low", {}), IsEmpty());
  EXPECT_THAT(subjects(*model("nic:1 eth:10"), "memlock-limit-low", limits(low, false, {})), IsEmpty());
}

TEST(ShmSmall, fires_on_a_containers_default) {
  const Graph graph = *model("cores:1");
  EXPECT_THAT(subjects(graph, "shm-small", limits({}, {}, std::uint64_t{64} << 20)), ElementsAre("/dev/shm"));
  EXPECT_THAT(subjects(graph, "shm-small", limits({}, {}, std::uint64_t{8} << 30)), IsEmpty());
  EXPECT_THAT(subjects(graph, "shm-small", {}), IsEmpty());
}

TEST(Facts, this_process_has_limits) {
  const Result<Survey> here = survey();
  ASSERT_TRUE(here.has_value());
  EXPECT_TRUE(here->facts(0).process.memlock_bytes.has_value());
  EXPECT_TRUE(here->facts(0).process.may_lock_all.has_value());
  EXPECT_TRUE(here->facts(0).container.shm_bytes.has_value());
}

}  // namespace
}  // namespace weft::topology::audit
