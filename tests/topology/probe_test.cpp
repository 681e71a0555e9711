// Probes: recorded trees, what sysfs texts mean, and this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/sanitizers.hpp"
#include "tests/topology/support/recorded_tree.hpp"
#include "topology/audit/audit.hpp"
#include "topology/probe/sysfs_network.hpp"
#include "topology/probe/sysfs_pci.hpp"
#include "topology/read_file.hpp"
#include "topology/survey.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using test::RecordedTree;
using Pci = RecordedTree::Pci;

const Node& node_of(const Graph& graph, std::string_view name) {
  const std::optional<int> id = graph.find(name);
  EXPECT_TRUE(id) << "no " << name << " in " << to_json(graph);
  return graph.nodes[static_cast<std::size_t>(id.value_or(0))];
}

// Link attributes of a gen5 x16 device that runs at `speed` with `width` lanes.
std::vector<std::pair<std::string, std::string>> gen5_running_at(std::string speed, std::string width) {
  return {{"current_link_speed", speed + " GT/s PCIe"},
          {"current_link_width", std::move(width)},
          {"max_link_speed", "32.0 GT/s PCIe"},
          {"max_link_width", "16"}};
}

Pci bridge(std::string bus_id, std::vector<std::string> above, int first_bus, int last_bus) {
  return {std::move(bus_id), std::move(above), "0x060400",
          "0x1000",          "0xc030",         "0-1",
          first_bus,         last_bus,         gen5_running_at("32.0", "16")};
}

Pci device(std::string bus_id, std::vector<std::string> above, std::string pci_class, std::string vendor,
           std::string id) {
  return {
      std::move(bus_id), std::move(above), std::move(pci_class), std::move(vendor), std::move(id), "0-1", -1, -1, {}};
}

// Root port, switch with two ports, below them an idle GPU (2.5 of 32 GT/s) and a NIC with half its lanes; and a device
// of a virtual machine on the other node, which tells no speed.
struct Devices {
  Pci port = bridge("0000:10:01.0", {}, 0x11, 0x14);
  Pci upstream = bridge("0000:11:00.0", {"0000:10:01.0"}, 0x12, 0x14);
  Pci downstream0 = bridge("0000:12:00.0", {"0000:10:01.0", "0000:11:00.0"}, 0x13, 0x13);
  Pci downstream1 = bridge("0000:12:01.0", {"0000:10:01.0", "0000:11:00.0"}, 0x14, 0x14);
  Pci gpu = device("0000:13:00.0", {"0000:10:01.0", "0000:11:00.0", "0000:12:00.0"}, "0x030200", "0x10de", "0x2330");
  Pci nic = device("0000:14:00.0", {"0000:10:01.0", "0000:11:00.0", "0000:12:01.0"}, "0x020700", "0x15b3", "0x1021");
  Pci other = device("0000:20:00.0", {}, "0x020000", "0x1af4", "0x1041");

  Devices() {
    gpu.attributes = gen5_running_at("2.5", "16");
    nic.attributes = gen5_running_at("32.0", "8");
    other.cpus = "2-3";
    other.attributes = {{"current_link_speed", "Unknown"}, {"current_link_width", "0"}};
  }
};

class Recorded : public testing::Test {
 protected:
  void SetUp() override {
    tree_.add_cpus(2, 2);
    const Devices d;
    for (const Pci& pci : {d.port, d.upstream, d.downstream0, d.downstream1, d.gpu, d.nic, d.other}) tree_.add_pci(pci);
    tree_.add_net("ib0", d.nic, "up", "400000");
    tree_.add_verbs("mlx5_0", d.nic, "4: ACTIVE", "400 Gb/sec (4X NDR)");
    tree_.add_net("eth0", d.other, "up", "25000");
  }
  Graph probed() {
    Result<Graph> graph = probe({tree_.root()});
    EXPECT_TRUE(graph) << graph.status().to_string();
    return graph ? std::move(graph).value() : Graph();
  }
  RecordedTree tree_;
};

TEST_F(Recorded, cpus_and_memory_are_found) {
  const Graph graph = probed();
  EXPECT_EQ(graph.ids(NodeKind::Package).size(), 2u);
  EXPECT_EQ(node_of(graph, "numa1").cpus, "2-3");
  EXPECT_EQ(node_of(graph, "numa1").memory_bytes, 1073741824u);
  EXPECT_EQ(node_of(graph, "numa1").cores, 2);
  EXPECT_EQ(graph.ids(NodeKind::CoreGroup).size(), 2u);
}

// hwloc says 0 for what it does not know, too.
TEST_F(Recorded, a_numa_node_without_memory_is_told_from_one_whose_memory_is_not_known) {
  const std::string meminfo = "/sys/devices/system/node/node1/meminfo";
  tree_.write(meminfo, "Node 1 MemTotal: 0 kB\nNode 1 MemFree: 0 kB\n");
  EXPECT_EQ(node_of(probed(), "numa1").memory_bytes, 0u);
  Survey survey;
  survey.graph = probed();
  const auto findings = audit::audit(survey);
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(),
                          [](const auto& finding) { return finding.id == "bios.numa_without_memory"; }));
  tree_.write(meminfo, "Node 1 MemFree: 0 kB\n");
  EXPECT_EQ(node_of(probed(), "numa1").memory_bytes, std::nullopt);
}

TEST_F(Recorded, the_name_is_that_of_the_recorded_machine) {
  EXPECT_EQ(probed().name, "machine");
  tree_.write("/proc/sys/kernel/hostname", "node17\n");
  EXPECT_EQ(probed().name, "node17");
}

TEST_F(Recorded, the_pci_tree_has_ports_and_a_switch) {
  const Graph graph = probed();
  EXPECT_EQ(node_of(graph, "switch-0000:11:00.0").kind, NodeKind::PciSwitch);
  EXPECT_EQ(node_of(graph, "port-0000:10:01.0").kind, NodeKind::PciBridge);
  EXPECT_EQ(node_of(graph, "gpu0").device, "10de:2330");
  EXPECT_EQ(node_of(graph, "gpu0").cpus, "0-1");
  const Path path = graph.best_path(node_of(graph, "gpu0").id, node_of(graph, "mlx5_0").id);
  EXPECT_EQ(path.path_class, PathClass::Pix);
  EXPECT_NEAR(path.bandwidth_gbs, 31.5, 0.1);  // eight lanes
}

TEST_F(Recorded, an_idle_gpus_link_counts_at_its_best_speed) {
  const Graph graph = probed();
  const Node& gpu = node_of(graph, "gpu0");
  EXPECT_EQ(gpu.pci, (PciLink{2.5, 16, 32.0, 16}));
  EXPECT_NEAR(graph.best_path(gpu.parent, gpu.id).bandwidth_gbs, 63.0, 0.1);
}

TEST_F(Recorded, ports_tell_rate_and_state) {
  const Graph graph = probed();
  const Node& nic = node_of(graph, "mlx5_0");
  EXPECT_TRUE(nic.fabric);
  EXPECT_EQ(nic.active, true);
  EXPECT_EQ(nic.network_gbs, 50.0);
  EXPECT_THAT(nic.names, testing::ElementsAre("mlx5_0", "ib0"));
  EXPECT_FALSE(node_of(graph, "eth0").fabric);
  EXPECT_EQ(node_of(graph, "eth0").network_gbs, 3.125);
}

TEST_F(Recorded, what_a_virtual_machine_hides_stays_unknown) {
  const Graph graph = probed();
  EXPECT_EQ(node_of(graph, "eth0").pci, PciLink());
  EXPECT_EQ(graph.best_path(node_of(graph, "eth0").id, node_of(graph, "numa1").id).path_class, PathClass::Phb);
}

TEST_F(Recorded, a_port_that_is_down_has_no_rate) {
  tree_.write("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  const Node nic = node_of(probed(), "mlx5_0");
  EXPECT_EQ(nic.active, false);
  EXPECT_EQ(nic.network_gbs, 50.0);  // what its model can do
  EXPECT_EQ(read_verbs_ports(tree_.root(), "mlx5_0").rate_gbs, std::nullopt);
}

// libhwloc counts the CPUs of the machine it runs on then.
TEST_F(Recorded, without_cpus_in_the_tree_none_are_known_and_a_remark_says_so) {
  std::filesystem::remove_all(tree_.root() + "/sys/devices/system/cpu");
  const Graph graph = probed();
  for (const Node& node : graph.nodes) {
    EXPECT_EQ(node.cpus, "") << node.name;
    EXPECT_EQ(node.cores, std::nullopt) << node.name;
  }
  EXPECT_TRUE(graph.ids(NodeKind::Package).empty());
  EXPECT_TRUE(graph.ids(NodeKind::CoreGroup).empty());
  EXPECT_EQ(graph.ids(NodeKind::Gpu).size(), 1u);
  EXPECT_EQ(node_of(graph, "mlx5_0").network_gbs, 50);
  const Result<Survey> whole = survey({tree_.root()});
  ASSERT_TRUE(whole) << whole.status().to_string();
  EXPECT_TRUE(std::any_of(whole->remarks.begin(), whole->remarks.end(), [](const Remark& remark) {
    return remark.kind == RemarkKind::Incomplete && remark.evidence.find("sys/devices/system/cpu") == 0;
  }));
}

// Sets variables for the time of a test.
class Variables final {
 public:
  explicit Variables(std::map<std::string, std::string> values) : values_(std::move(values)) {
    for (const auto& [name, value] : values_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  ~Variables() {
    for (const auto& [name, value] : values_) ::unsetenv(name.c_str());
  }
  bool are_as_before() const {
    return std::all_of(values_.begin(), values_.end(), [](const auto& variable) {
      const char* const now = std::getenv(variable.first.c_str());
      return now != nullptr && variable.second == now;
    });
  }

 private:
  std::map<std::string, std::string> values_;
};

TEST_F(Recorded, what_others_tell_hwloc_by_the_environment_changes_nothing) {
  const Graph recorded = probed();
  const Graph live = *probe();
  for (const std::map<std::string, std::string>& values : std::vector<std::map<std::string, std::string>>{
           {{"HWLOC_SYNTHETIC", "pack:4 core:8 pu:1"}},
           {{"HWLOC_XMLFILE", "tests/topology/data/hwloc3-nvswitch.xml"}, {"HWLOC_THISSYSTEM", "1"}},
           {{"HWLOC_XMLFILE", "tests/topology/data/hwloc1-two-sockets.xml"}},
           {{"HWLOC_FSROOT", "/nonexistent"}},
           {{"HWLOC_COMPONENTS", "-linux"}},
           {{"HWLOC_COMPONENTS", "stop"}}}) {
    const Variables variables(values);
    SCOPED_TRACE(values.begin()->first + "=" + values.begin()->second);
    EXPECT_EQ(*probe(), live);
    EXPECT_EQ(probed(), recorded);
    EXPECT_TRUE(variables.are_as_before());
  }
}

TEST(Sysfs, link_speeds_are_read_in_all_spellings) {
  EXPECT_EQ(parse_link_speed("16.0 GT/s PCIe"), 16.0);
  EXPECT_EQ(parse_link_speed("2.5 GT/s"), 2.5);
  EXPECT_EQ(parse_link_speed("8 GT/s"), 8.0);
  for (const char* text : {"Unknown", "", "16", "-1 GT/s", "nan GT/s", "9999 GT/s", "16.0GB/s"})
    EXPECT_EQ(parse_link_speed(text), std::nullopt) << text;
}

TEST(Sysfs, port_rates_are_read) {
  EXPECT_EQ(parse_port_rate("400 Gb/sec (4X NDR)"), 50.0);
  EXPECT_EQ(parse_port_rate("2.5 Gb/sec (1X SDR)"), 0.3125);
  for (const char* text : {"", "0 Gb/sec", "fast", "400"}) EXPECT_EQ(parse_port_rate(text), std::nullopt) << text;
}

TEST(Sysfs, a_lost_device_has_no_width) {
  RecordedTree tree;
  tree.write("/sys/bus/pci/devices/0000:01:00.0/current_link_width", "255\n");
  tree.write("/sys/bus/pci/devices/0000:01:00.0/max_link_width", "16\n");
  EXPECT_EQ(read_pci_link(tree.root(), "0000:01:00.0"), (PciLink{{}, {}, {}, 16}));
  EXPECT_EQ(read_pci_link(tree.root(), "0000:02:00.0"), PciLink());
}

TEST(Sysfs, interfaces_that_are_down_or_virtual_have_no_rate) {
  RecordedTree tree;
  tree.write("/sys/class/net/a/operstate", "down\n");
  tree.write("/sys/class/net/a/speed", "25000\n");
  tree.write("/sys/class/net/b/operstate", "up\n");
  tree.write("/sys/class/net/b/speed", "-1\n");
  EXPECT_EQ(read_net_device(tree.root(), "a").active, false);
  EXPECT_EQ(read_net_device(tree.root(), "a").rate_gbs, std::nullopt);
  EXPECT_EQ(read_net_device(tree.root(), "b").active, true);
  EXPECT_EQ(read_net_device(tree.root(), "b").rate_gbs, std::nullopt);
  EXPECT_FALSE(read_net_device(tree.root(), "c").known());
}

TEST(Probe, a_root_without_a_tree_is_refused) {
  const Result<Graph> graph = probe({"/nonexistent"});
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code(), Code::NotFound);
}

TEST(Probe, this_machine_is_a_sound_graph_with_places_for_ranks) {
  const Result<Graph> graph = probe();
  ASSERT_TRUE(graph) << graph.status().to_string();
  EXPECT_TRUE(graph->check().ok()) << graph->check().to_string();
  EXPECT_EQ(graph->hosts(), 1);
  EXPECT_FALSE(graph->ids(NodeKind::CoreGroup).empty());
  EXPECT_TRUE(place(*graph, 1));
  EXPECT_EQ(*from_json(to_json(*graph)), *graph);
}

TEST(Probe, this_machine_takes_at_most_50_ms_of_cpu) {
  double least_ms = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) {
    timespec before{};
    timespec after{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    ASSERT_TRUE(probe());
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    least_ms = std::min(least_ms, static_cast<double>(after.tv_sec - before.tv_sec) * 1e3 +
                                      static_cast<double>(after.tv_nsec - before.tv_nsec) * 1e-6);
  }
#if !WEFT_ADDRESS_SANITIZER && !WEFT_THREAD_SANITIZER
  EXPECT_LT(least_ms, 50);
#endif
}

}  // namespace
}  // namespace weft::topology
