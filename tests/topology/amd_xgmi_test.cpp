// XGMI between AMD GPUs, and Slingshot's names, from recorded trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/recorded_tree.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using test::RecordedTree;
using testing::Contains;
using testing::IsEmpty;

class AmdXgmi : public testing::Test {
 protected:
  // Three GPUs of a hive; the first is two links away from the second, and two hops from the third.
  void SetUp() override {
    tree_.add_cpus(1, 2);
    for (const char* bus_id : {"0000:c1:00.0", "0000:c2:00.0", "0000:c3:00.0"}) {
      tree_.add_pci({bus_id, {}, "0x120000", "0x1002", "0x74a1", "0-1", -1, -1, {}});
      for (int node = 1; node <= 3; ++node)
        tree_.link(folder(bus_id) + "xgmi_hive_info/node" + std::to_string(node),
                   "../../../0000:c" + std::to_string(node) + ":00.0");
    }
    write("0000:c1:00.0", "00 01 02", "00 02 00");
    write("0000:c2:00.0", "01 00 01", "02 00 01");
    write("0000:c3:00.0", "02 01 00", "00 01 00");
  }
  static std::string folder(const std::string& bus_id) { return "/sys/bus/pci/devices/" + bus_id + "/"; }
  void write(const std::string& bus_id, const std::string& hops, const std::string& links) {
    tree_.write(folder(bus_id) + "xgmi_num_hops", hops + " \n");
    tree_.write(folder(bus_id) + "xgmi_num_links", links + " \n");
  }
  std::vector<Link> links() {
    const Result<Graph> graph = probe({tree_.root()});
    EXPECT_TRUE(graph) << graph.status().to_string();
    std::vector<Link> found;
    for (const Link& link : graph ? graph->links : std::vector<Link>())
      if (link.kind == LinkKind::Xgmi) found.push_back(link);
    return found;
  }
  RecordedTree tree_;
};

TEST_F(AmdXgmi, only_gpus_one_hop_apart_have_links) {
  const std::vector<Link> found = links();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[0].source, "assumed");
  EXPECT_EQ(found[1].count, 1);
}

TEST_F(AmdXgmi, the_instruction_set_tells_the_rate) {
  tree_.write("/sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 2\ngfx_target_version 0\n");
  tree_.write("/sys/class/kfd/kfd/topology/nodes/1/properties",
              "simd_count 1216\nlocation_id 49408\ndomain 0\ngfx_target_version 90402\n");
  const std::vector<Link> found = links();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].bandwidth_gbs, 128);
  EXPECT_EQ(found[0].source, "sysfs");
}

TEST_F(AmdXgmi, a_driver_that_does_not_count_links_leaves_their_number_unknown) {
  for (const char* bus_id : {"0000:c1:00.0", "0000:c2:00.0", "0000:c3:00.0"})
    tree_.write(folder(bus_id) + "xgmi_num_links", "00 00 00 \n");
  ASSERT_EQ(links().size(), 2u);
  EXPECT_EQ(links()[0].count, 0);
  EXPECT_EQ(links()[0].source, "assumed");
  tree_.write(folder("0000:c2:00.0") + "xgmi_num_links", "03 00 01 \n");  // one end knows
  EXPECT_EQ(links()[0].count, 3);
}

TEST_F(AmdXgmi, texts_that_make_no_sense_give_no_links) {
  for (const char* bus_id : {"0000:c1:00.0", "0000:c2:00.0", "0000:c3:00.0"})
    tree_.write(folder(bus_id) + "xgmi_num_hops", "zz 01\n");
  EXPECT_THAT(links(), IsEmpty());
}

TEST(Slingshot, devices_are_called_by_their_own_name_too) {
  RecordedTree tree;
  tree.add_cpus(1, 2);
  const RecordedTree::Pci nic = {"0000:41:00.0", {}, "0x020000", "0x17db", "0x0501", "0-1", -1, -1, {}};
  tree.add_pci(nic);
  tree.add_net("hsn0", nic, "up", "200000");
  tree.link("/sys/class/cxi/cxi0", "../../devices/pci0000:41/0000:41:00.0/cxi/cxi0");
  tree.link("/sys/devices/pci0000:41/0000:41:00.0/cxi/cxi0/device", "../../../0000:41:00.0");
  const Result<Graph> graph = probe({tree.root()});
  ASSERT_TRUE(graph) << graph.status().to_string();
  const Node& node = graph->nodes.at(static_cast<std::size_t>(graph->ids(NodeKind::Nic).at(0)));
  EXPECT_EQ(node.name, "hsn0");
  EXPECT_TRUE(node.fabric);
  EXPECT_EQ(node.network_gbs, 25);
  EXPECT_THAT(node.names, Contains("cxi0"));
}

}  // namespace
}  // namespace weft::topology
