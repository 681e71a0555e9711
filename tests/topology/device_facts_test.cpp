// Facts of devices from recorded trees: ACS, errors, IOMMU, functions, RDMA ports and their GIDs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/facts/acs.hpp"
#include "topology/facts/read_facts.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

using test::RecordedTree;
using testing::ElementsAre;
using testing::IsEmpty;
using Pci = RecordedTree::Pci;

void put16(std::string& bytes, std::size_t at, unsigned value) {
  bytes[at] = static_cast<char>(value & 0xff);
  bytes[at + 1] = static_cast<char>(value >> 8);
}

// A whole configuration space of a bridge: extended capabilities AER at 0x100, ACS at 0x148.
std::string config_space(unsigned acs_control) {
  std::string bytes(4096, '\0');
  put16(bytes, 0x100, 0x0001);
  put16(bytes, 0x102, 0x1482);  // next 0x148, version 2
  put16(bytes, 0x148, 0x000d);
  put16(bytes, 0x14a, 0x0001);  // the last one
  put16(bytes, 0x14c, 0x005f);  // what it can
  put16(bytes, 0x14e, acs_control);
  return bytes;
}

class Devices : public testing::Test {
 protected:
  // Root port, switch, GPU and NIC below its two ports.
  void SetUp() override {
    tree_.add_cpus(1, 2);
    for (const Pci& pci : {bridge("0000:10:01.0", {}, 0x11, 0x14), bridge("0000:11:00.0", {"0000:10:01.0"}, 0x12, 0x14),
                           bridge("0000:12:00.0", {"0000:10:01.0", "0000:11:00.0"}, 0x13, 0x13),
                           bridge("0000:12:01.0", {"0000:10:01.0", "0000:11:00.0"}, 0x14, 0x14), gpu_, nic_})
      tree_.add_pci(pci);
  }
  static Pci bridge(std::string bus_id, std::vector<std::string> above, int first, int last) {
    return {std::move(bus_id), std::move(above), "0x060400", "0x1000", "0xc030", "0-1", first, last, {}};
  }
  Survey surveyed() {
    Survey survey;
    Result<Graph> graph = probe({tree_.root()});
    EXPECT_TRUE(graph) << graph.status().to_string();
    if (graph) survey.graph = std::move(*graph);
    EXPECT_TRUE(read_facts(tree_.root(), survey).ok());
    return survey;
  }
  DeviceFacts of(const std::string& bus_id) {
    const Survey survey = surveyed();
    const DeviceFacts* found = survey.facts(0).device(bus_id);
    EXPECT_NE(found, nullptr) << bus_id;
    return found != nullptr ? *found : DeviceFacts();
  }
  std::string folder(const std::string& bus_id) { return "/sys/bus/pci/devices/" + bus_id + "/"; }

  Pci gpu_ = {"0000:13:00.0",
              {"0000:10:01.0", "0000:11:00.0", "0000:12:00.0"},
              "0x030200",
              "0x10de",
              "0x2330",
              "0-1",
              -1,
              -1,
              {}};
  Pci nic_ = {"0000:14:00.0",
              {"0000:10:01.0", "0000:11:00.0", "0000:12:01.0"},
              "0x020700",
              "0x15b3",
              "0x1021",
              "0-1",
              -1,
              -1,
              {}};
  RecordedTree tree_;
};

TEST_F(Devices, of_the_graph_and_all_bridges_above_are_there) {
  const Survey survey = surveyed();
  EXPECT_EQ(survey.facts(0).devices.size(), 6u);
  EXPECT_EQ(survey.facts(0).device("0000:13:00.0")->node, "gpu0");
  EXPECT_EQ(survey.facts(0).device("0000:13:00.0")->kind, "gpu");
  EXPECT_EQ(survey.facts(0).device("0000:13:00.0")->device, "10de:2330");
  EXPECT_EQ(survey.facts(0).device("0000:12:00.0")->kind, "bridge");
  EXPECT_EQ(survey.facts(0).device("0000:11:00.0")->node, "switch-0000:11:00.0");
}

TEST_F(Devices, a_config_space_that_is_cut_leaves_acs_unknown_and_says_so) {
  const Survey survey = surveyed();
  for (const DeviceFacts& device : survey.facts(0).devices) EXPECT_EQ(device.acs, std::nullopt) << device.bus_id;
  ASSERT_EQ(survey.remarks.size(), 1u);
  EXPECT_EQ(survey.remarks[0].kind, RemarkKind::Unreadable);
  EXPECT_THAT(survey.remarks[0].evidence, testing::HasSubstr("4 of 4 bridges"));
}

TEST_F(Devices, a_whole_config_space_tells_acs) {
  tree_.write(folder("0000:10:01.0") + "config", config_space(0));
  tree_.write(folder("0000:11:00.0") + "config", std::string(4096, '\0'));
  tree_.write(folder("0000:12:00.0") + "config", config_space(0x1d));
  tree_.write(folder("0000:12:01.0") + "config", config_space(0x40));
  EXPECT_EQ(of("0000:10:01.0").acs, AcsFacts());
  EXPECT_EQ(of("0000:11:00.0").acs, AcsFacts()) << "no capability, nothing to turn on";
  EXPECT_EQ(of("0000:12:00.0").acs, (AcsFacts{true, true, true, true, false}));
  EXPECT_EQ(of("0000:12:01.0").acs, (AcsFacts{false, false, false, false, true}));
  EXPECT_THAT(surveyed().remarks, IsEmpty());
}

TEST_F(Devices, errors_drivers_and_groups_are_read) {
  tree_.write(folder("0000:13:00.0") + "aer_dev_correctable", "RxErr 2\nBadTLP 1\nTOTAL_ERR_COR 3\n");
  tree_.write(folder("0000:13:00.0") + "aer_dev_nonfatal", "Undefined 0\nTOTAL_ERR_NONFATAL 0\n");
  tree_.write(folder("0000:13:00.0") + "aer_dev_fatal", "TOTAL_ERR_FATAL 1\n");
  tree_.write(folder("0000:13:00.0") + "power_state", "D0\n");
  tree_.write(folder("0000:13:00.0") + "numa_node", "-1\n");
  tree_.link(folder("0000:13:00.0") + "driver", "../../../bus/pci/drivers/nvidia");
  tree_.link(folder("0000:13:00.0") + "iommu_group", "../../../kernel/iommu_groups/27");
  tree_.write("/sys/kernel/iommu_groups/27/type", "DMA\n");
  tree_.write("/proc/driver/nvidia/gpus/0000:13:00.0/information",
              "Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t GPU-0a1b\nVideo BIOS: \t 96.00.61.00.01\n");
  const DeviceFacts gpu = of("0000:13:00.0");
  EXPECT_EQ(gpu.correctable_errors, 3u);
  EXPECT_EQ(gpu.nonfatal_errors, 0u);
  EXPECT_EQ(gpu.fatal_errors, 1u);
  EXPECT_EQ(gpu.power_state, "D0");
  EXPECT_EQ(gpu.numa, -1);
  EXPECT_EQ(gpu.driver, "nvidia");
  EXPECT_EQ(gpu.iommu_group, "27");
  EXPECT_EQ(gpu.iommu_type, "DMA");
  EXPECT_EQ(gpu.uuid, "GPU-0a1b");
  EXPECT_EQ(gpu.firmware, "96.00.61.00.01");
  const DeviceFacts nic = of("0000:14:00.0");
  EXPECT_EQ(nic.correctable_errors, std::nullopt);
  EXPECT_EQ(nic.iommu_group, std::nullopt);
  EXPECT_EQ(nic.numa, std::nullopt);
}

TEST_F(Devices, virtual_functions_are_told_from_physical_ones) {
  tree_.add_pci({"0000:14:00.1", nic_.above, "0x020700", "0x15b3", "0x101e", "0-1", -1, -1, {}});
  tree_.write(folder("0000:14:00.0") + "sriov_numvfs", "1\n");
  tree_.link(folder("0000:14:00.1") + "physfn", "../0000:14:00.0");
  EXPECT_EQ(of("0000:14:00.0").virtual_functions, 1);
  EXPECT_EQ(of("0000:14:00.0").physical_function, std::nullopt);
  EXPECT_EQ(of("0000:14:00.1").physical_function, "0000:14:00.0");
}

TEST_F(Devices, nvswitches_are_listed_though_the_graph_has_none) {
  tree_.add_pci({"0000:12:02.0", {"0000:10:01.0", "0000:11:00.0"}, "0x068000", "0x10de", "0x22a3", "0-1", -1, -1, {}});
  EXPECT_EQ(of("0000:12:02.0").kind, "nvswitch");
  EXPECT_EQ(of("0000:12:02.0").node, "");
}

TEST_F(Devices, a_roce_port_has_its_gids) {
  tree_.add_verbs("mlx5_0", nic_, "4: ACTIVE", "400 Gb/sec (4X NDR)");
  const std::string device = "/sys/class/infiniband/mlx5_0/";
  tree_.write(device + "node_guid", "0011:2233:4455:6677\n");
  tree_.write(device + "sys_image_guid", "0011:2233:4455:6670\n");
  tree_.write(device + "fw_ver", "28.39.1002\n");
  tree_.write(device + "ports/1/phys_state", "5: LinkUp\n");
  tree_.write(device + "ports/1/link_layer", "Ethernet\n");
  tree_.write(device + "ports/1/lid", "0x0\n");
  const char* const addresses[] = {"fe80:0000:0000:0000:0011:22ff:fe33:4455", "0000:0000:0000:0000:0000:0000:0000:0000",
                                   "0000:0000:0000:0000:0000:ffff:0a00:0004"};
  for (int i = 0; i < 3; ++i)
    tree_.write(device + "ports/1/gids/" + std::to_string(i), std::string(addresses[i]) + "\n");
  tree_.write(device + "ports/1/gid_attrs/types/0", "IB/RoCE v1\n");
  tree_.write(device + "ports/1/gid_attrs/types/2", "RoCE v2\n");
  tree_.write(device + "ports/1/gid_attrs/ndevs/2", "ens1\n");
  tree_.write(device + "ports/1/counters/link_downed", "2\n");
  tree_.write(device + "ports/1/counters/port_xmit_data", "99\n");
  tree_.write(device + "ports/1/hw_counters/out_of_sequence", "7\n");
  const DeviceFacts nic = of("0000:14:00.0");
  EXPECT_EQ(nic.node, "mlx5_0");
  EXPECT_EQ(nic.verbs, "mlx5_0");
  EXPECT_EQ(nic.guid, "0011:2233:4455:6677");
  EXPECT_EQ(nic.system_image_guid, "0011:2233:4455:6670");
  EXPECT_EQ(nic.firmware, "28.39.1002");
  ASSERT_EQ(nic.ports.size(), 1u);
  const PortFacts& port = nic.ports[0];
  EXPECT_EQ(port.number, 1);
  EXPECT_EQ(port.state, "ACTIVE");
  EXPECT_EQ(port.physical_state, "LinkUp");
  EXPECT_EQ(port.link_layer, "Ethernet");
  EXPECT_EQ(port.rate_gbs, 50);
  EXPECT_EQ(port.lid, 0);
  EXPECT_EQ(port.active_mtu, std::nullopt);
  EXPECT_THAT(port.gids, ElementsAre(GidFacts{0, addresses[0], "IB/RoCE v1", std::nullopt},
                                     GidFacts{2, addresses[2], "RoCE v2", "ens1"}));
  EXPECT_THAT(port.errors, ElementsAre(Counter{"link_downed", 2}, Counter{"out_of_sequence", 7}));
}

TEST_F(Devices, an_efa_device_is_a_nic_without_gids_of_its_own) {
  const Pci efa = {"0000:14:01.0", nic_.above, "0x020000", "0x1d0f", "0xefa2", "0-1", -1, -1, {}};
  tree_.add_pci(efa);
  tree_.add_verbs("rdmap20s1", efa, "4: ACTIVE", "100 Gb/sec (4X EDR)");
  tree_.write("/sys/class/infiniband/rdmap20s1/ports/1/link_layer", "Unspecified\n");
  tree_.link(folder("0000:14:01.0") + "driver", "../../../bus/pci/drivers/efa");
  const DeviceFacts device = of("0000:14:01.0");
  EXPECT_EQ(device.node, "rdmap20s1");
  EXPECT_EQ(device.driver, "efa");
  EXPECT_EQ(device.ports.at(0).link_layer, "Unspecified");
  EXPECT_EQ(device.ports.at(0).rate_gbs, 12.5);
  EXPECT_THAT(device.ports.at(0).gids, IsEmpty());
}

// ---- the walk over capabilities

std::optional<AcsFacts> acs_in(const std::string& bytes) {
  return read_acs([&](unsigned offset) -> std::optional<std::uint32_t> {
    if (offset + 4 > bytes.size()) return std::nullopt;
    std::uint32_t word = 0;
    for (unsigned i = 4; i-- > 0;) word = word << 8 | static_cast<unsigned char>(bytes[offset + i]);
    return word;
  });
}

TEST(Acs, is_unknown_where_the_space_ends) {
  const std::string whole = config_space(0x1d);
  EXPECT_EQ(acs_in(whole.substr(0, 64)), std::nullopt);
  EXPECT_EQ(acs_in(whole.substr(0, 256)), std::nullopt);
  EXPECT_EQ(acs_in(whole.substr(0, 0x14c)), std::nullopt);
  EXPECT_TRUE(acs_in(whole)->request_redirect);
}

TEST(Acs, is_unknown_of_a_device_that_is_gone) { EXPECT_EQ(acs_in(std::string(4096, '\xff')), std::nullopt); }

TEST(Acs, a_list_that_goes_in_circles_or_back_is_left) {
  std::string bytes(4096, '\0');
  put16(bytes, 0x100, 1);
  put16(bytes, 0x102, 0x1001);  // next: itself
  EXPECT_EQ(acs_in(bytes), std::nullopt);
  put16(bytes, 0x102, 0x0401);  // next: in the part before
  EXPECT_EQ(acs_in(bytes), std::nullopt);
}

}  // namespace
}  // namespace weft::topology
