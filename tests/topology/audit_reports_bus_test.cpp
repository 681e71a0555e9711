// Public reports of PCIe: switches, ports, the IOMMU, idle links, and machines whose bus a hypervisor hides; see
// told_of().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/audit_cases.hpp"
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Report01, acs_on_the_switch_between_gpu_and_nic) {
  Machine machine("packages:1 gpu:2 gpus_per_switch:2 nic:1 hdr");
  machine.node("switch0").bus_id = "0000:3b:00.0";
  machine.device("switch0").acs = AcsFacts{true, true, false, false, false};
  EXPECT_THAT(told_of(machine, "pcie.acs_redirect"),
              AllOf(HasSubstr("error pcie.acs_redirect switch0"), HasSubstr("gpu0 and nic0"),
                    HasSubstr("setpci -s 0000:3b:00.0 ECAP_ACS+6.w=0000")));
}

TEST(Report03, iommu_translates_on_a_geforce_box) {
  Machine machine("packages:1 gpu:4 gpus_per_switch:2 pcie:3");
  machine.virtual_machine(false);
  machine.host().kernel.command_line = "BOOT_IMAGE=/vmlinuz ro intel_iommu=on";
  EXPECT_THAT(told_of(machine, "kernel.iommu_translating"), AllOf(HasSubstr("error"), HasSubstr("iommu=pt")));
}

TEST(Report05, two_gpus_below_one_switch_are_slower) {
  Machine machine("packages:1 gpu:4 gpus_per_switch:2 pcie:3");
  const auto copy = [&](const char* from, const char* to, double gbs) {
    machine.survey().measurements.push_back({machine.node(from).id, machine.node(to).id, "gpu", false, gbs, {}});
  };
  copy("gpu0", "gpu1", 6);
  copy("gpu0", "gpu2", 9);
  EXPECT_THAT(told_of(machine, "perf.pix_slower_than_phb"),
              AllOf(HasSubstr("warning"), HasSubstr("6.0 GB/s below one switch"), HasSubstr("turn ACS off")));
}

TEST(Report06, h200_guest_on_a_flat_bus) {
  Machine machine("packages:1 gpu:8 gpus_per_switch:1 nic:8 ndr");
  for (int i = 0; i < 8; ++i) {
    machine.move("nic" + std::to_string(i), "pci" + std::to_string((i + 1) % 8));
    machine.device("gpu" + std::to_string(i)).numa = -1;
  }
  machine.virtual_machine(true);
  machine.host().platform.hypervisor = "kvm";
  EXPECT_THAT(told_of(machine, "vm.topology_hidden"),
              AllOf(HasSubstr("error vm.topology_hidden kvm: 8 GPUs and 8 NICs"), HasSubstr("of 8 GPUs is not known"),
                    HasSubstr("NCCL_TOPO_FILE")));
}

TEST(Report09, t4_guest_with_hidden_links) {
  Machine machine("packages:2 gpu:4 gpus_per_switch:1");
  machine.virtual_machine(true);
  machine.host().platform.cpu_vendor = "GenuineIntel";
  for (int i = 0; i < 4; ++i) {
    Node& gpu = machine.node("gpu" + std::to_string(i));
    gpu.device = "10de:1eb8";
    gpu.bus_id = "0000:00:0" + std::to_string(4 + i) + ".0";
    gpu.pci = PciLink();
    for (Link& link : machine.survey().graph.links)
      if (link.b == gpu.id) link.source = "assumed";
  }
  EXPECT_THAT(told_of(machine, "pcie.link_unknown"), HasSubstr("warning pcie.link_unknown gpu0, gpu1, gpu2, gpu3"));
  EXPECT_THAT(told_of(machine, "env.suggest"), AllOf(HasSubstr("info"), HasSubstr("NCCL_P2P_LEVEL=PXB")));
}

TEST(Report10, azure_pod_without_its_topology_file) {
  Machine machine("packages:2 gpu:8 gpus_per_switch:1 nic:8 hdr");
  machine.virtual_machine(true);
  machine.host().platform.vendor = "Microsoft Corporation";
  machine.host().container.kind = "kubernetes";
  machine.host().topology_file_present = false;
  machine.set("");
  EXPECT_THAT(told_of(machine, "vm.topology_file_missing"),
              AllOf(HasSubstr("error"), HasSubstr("of this container"), HasSubstr("mount the file of /opt/microsoft")));
}

TEST(Report60, gpus_only_as_pci_devices) {
  Machine machine("packages:2 gpu:4 gpus_per_switch:2");
  machine.name_all("gpu", 4, "10de:1db4");
  machine.survey().source = "hwloc XML";
  EXPECT_THAT(told_of(machine, "hwloc.no_gpu_backend"), AllOf(HasSubstr("info"), HasSubstr("by PCI id only")));
}

TEST(Report61, an_idle_gpu_is_not_downgraded) {
  Machine machine("packages:1 gpu:2 gpus_per_switch:1");
  machine.add_port("gpu0", PciLink{32.0, 16, 32.0, 16});
  machine.node("gpu0").device = "10de:2684";
  machine.node("gpu0").pci.gts = 2.5;
  machine.device("gpu0").power_state = "P8";
  EXPECT_THAT(told_of(machine, "pcie.link_idle"),
              HasSubstr("info pcie.link_idle gpu0: at 2.5 of 32 GT/s while idle (P8)"));
  EXPECT_EQ(told_of(machine, "pcie.link_downgraded"), "");
}

TEST(Report62, one_card_hangs_on_the_chipset) {
  Machine machine("packages:1 cores:16 gpu:2 gpus_per_switch:1 pcie:4");
  machine.add_port("gpu0", PciLink{16.0, 4, 16.0, 4}, "8086:7ab8", "0000:00:1c.0");
  EXPECT_THAT(told_of(machine, "pcie.behind_chipset"),
              AllOf(HasSubstr("warning pcie.behind_chipset gpu0"), HasSubstr("port 0000:00:1c.0; expect about half"),
                    HasSubstr("move the card")));
}

}  // namespace
}  // namespace weft::topology::audit
