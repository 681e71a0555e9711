// Cases of the rules about PCIe.
#include "audit_cases.hpp"

namespace weft::topology::audit {
namespace {

constexpr PciLink kGen5x16 = {32.0, 16, 32.0, 16};

// Two GPUs, two NICs, a switch for each pair.
Machine two_pairs() {
  Machine machine("packages:2 cores:4 gpu:2 gpus_per_switch:1 nic:2 ndr");
  for (const char* gpu : {"gpu0", "gpu1"}) machine.node(gpu).device = "10de:2330";
  for (const char* nic : {"nic0", "nic1"}) machine.node(nic).device = "15b3:1021";
  return machine;
}

AcsFacts redirecting() { return AcsFacts{true, true, true, false, false}; }

// Each device below a port of its own that can do all that the device can.
Machine with_ports() {
  Machine machine = two_pairs();
  for (const char* device : {"gpu0", "gpu1", "nic0", "nic1"}) machine.add_port(device, kGen5x16);
  return machine;
}

void add_acs(std::vector<Case>& cases) {
  Machine machine = two_pairs();
  machine.node("switch0").bus_id = "0000:17:00.0";
  machine.device("switch0").acs = redirecting();
  cases.push_back(fires("pcie.acs_redirect", "a switch between GPU and NIC redirects", machine, "gpu0 and nic0"));
  cases.push_back(fires("pcie.acs_redirect", "the fix names the port", machine, "setpci -s 0000:17:00.0"));
  Machine guest = machine;
  guest.virtual_machine(true);
  cases.push_back(silent("pcie.acs_redirect", "in a virtual machine", guest));
  Machine held = machine;
  held.device("gpu0").driver = "vfio-pci";
  cases.push_back(silent("pcie.acs_redirect", "a GPU held for a guest", held));
  machine.device("switch0").acs = AcsFacts{true, false, false, false, false};
  cases.push_back(silent("pcie.acs_redirect", "source validation alone", machine));
  Machine above = two_pairs();
  above.device("pci0").acs = redirecting();
  cases.push_back(silent("pcie.acs_redirect", "a port that no two devices share", above));
}

void add_peers(std::vector<Case>& cases) {
  Machine machine("packages:1 cores:4 gpu:2 gpus_per_switch:1");
  for (const char* gpu : {"gpu0", "gpu1"}) machine.node(gpu).device = "10de:2684";
  machine.host().kernel.nvidia_driver = "525.60.13";
  cases.push_back(fires("pcie.p2p_unsafe", "RTX 4090 with a driver that claims peers", machine, "525.60.13"));
  Machine off = machine;
  off.set("NCCL_P2P_DISABLE", "1");
  cases.push_back(silent("pcie.p2p_unsafe", "peer-to-peer is off", off));
  machine.host().kernel.nvidia_driver = "525.105.17";
  cases.push_back(silent("pcie.p2p_unsafe", "the driver that is mended", machine));
  Machine forced("packages:2 cores:4 gpu:2 gpus_per_switch:1");
  forced.set("NCCL_P2P_LEVEL", "SYS");
  forced.virtual_machine(false);
  forced.host().kernel.iommu_type = "DMA-FQ";
  cases.push_back(fires("pcie.p2p_unsafe", "forced through a translating IOMMU", forced, "DMA-FQ"));
  forced.host().kernel.iommu_type = "identity";
  cases.push_back(silent("pcie.p2p_unsafe", "forced, but nothing translates", forced));
}

void add_links(std::vector<Case>& cases) {
  Machine machine = two_pairs();
  machine.virtual_machine(true);
  for (const char* gpu : {"gpu0", "gpu1"}) {
    machine.node(gpu).bus_id = gpu[3] == '0' ? "0000:05:00.0" : "0000:06:00.0";
    machine.node(gpu).pci = PciLink();
    for (Link& link : machine.survey().graph.links)
      if (link.b == machine.node(gpu).id) link.source = "assumed";
  }
  cases.push_back(fires("pcie.link_unknown", "a guest that hides links", machine, "2 PCIe links"));
  machine.virtual_machine(false);
  cases.push_back(silent("pcie.link_unknown", "a source that does not tell links", machine));
  machine.survey().nccl_version = 1;
  cases.push_back(fires("pcie.link_unknown", "a file that NCCL completes", machine,
                        "left out; NCCL reads them from the machine", Severity::Info));
  machine.device("gpu1").link_hidden = true;
  cases.push_back(fires("pcie.link_unknown", "a file that says nothing where the link should be", machine,
                        "of 1 PCIe link are not shown", Severity::Warning));

  Machine idle = with_ports();
  idle.node("gpu0").pci.gts = 2.5;
  cases.push_back(silent("pcie.link_idle", "the power state is not known", idle));
  cases.push_back(silent("pcie.link_downgraded", "an idle GPU", idle));
  idle.device("gpu0").power_state = "P8";
  cases.push_back(fires("pcie.link_idle", "a GPU in P8", idle, "at 2.5 of 32 GT/s while idle (P8)"));
  cases.push_back(silent("pcie.link_downgraded", "a GPU in P8", idle));
  idle.node("gpu0").pci.gts = 32;
  cases.push_back(silent("pcie.link_idle", "full speed in P8", idle));
}

void add_downgraded(std::vector<Case>& cases) {
  Machine narrow = with_ports();
  narrow.node("nic0").pci.width = 8;
  cases.push_back(fires("pcie.link_downgraded", "fewer lanes than both ends have", narrow, "runs with 8 lanes"));
  narrow.node("nic1").pci.width = 8;
  cases.push_back(silent("pcie.link_downgraded", "all cards wired x8 alike", narrow));
  Machine slow = with_ports();
  slow.node("nic0").pci.gts = 16;
  cases.push_back(fires("pcie.link_downgraded", "a slow NIC", slow, "runs at 16 GT/s"));
  Machine emulated = with_ports();
  emulated.node("nic0").pci.width = 4;
  emulated.node("port-nic0").pci = PciLink{2.5, 1, 32.0, 32};
  emulated.node("port-nic0").device = "1b36:000c";
  cases.push_back(silent("pcie.link_downgraded", "QEMU's root port at 2.5 GT/s", emulated));
  Machine slot = with_ports();
  slot.node("nic0").pci = PciLink{16.0, 8, 32.0, 16};
  slot.node("port-nic0").pci = PciLink{16.0, 8, 16.0, 8};
  cases.push_back(silent("pcie.link_downgraded", "the slot can do no more", slot));
  Machine odd("packages:2 cores:4 gpu:8 gpus_per_switch:2");
  for (int i = 0; i < 8; ++i) odd.node("gpu" + std::to_string(i)).device = "10de:2235";
  odd.node("gpu3").pci.gts = 8;
  cases.push_back(silent("pcie.link_downgraded", "one of eight is slower, perhaps idle", odd));
  odd.device("gpu3").power_state = "P0";
  cases.push_back(
      fires("pcie.link_downgraded", "one of eight is slower at work", odd, "7 of 7 GPUs like it run faster"));
}

void add_chipset(std::vector<Case>& cases) {
  Machine machine("packages:1 cores:8 gpu:2 gpus_per_switch:1");
  machine.add_port("gpu1", kGen5x16, "8086:7ab8", "0000:00:1c.0");
  cases.push_back(fires("pcie.behind_chipset", "a second GPU on the chipset", machine, "0000:00:1c.0"));
  machine.node("port-gpu1").device = "1022:57ad";
  cases.push_back(fires("pcie.behind_chipset", "AMD's chipset", machine, "chipset"));
  machine.node("port-gpu1").device = "8086:a70d";
  machine.node("port-gpu1").bus_id = "0000:00:01.0";
  cases.push_back(silent("pcie.behind_chipset", "a port of the CPU", machine));
  Machine laptop("packages:1 cores:8 gpu:1 gpus_per_switch:1");
  laptop.add_port("gpu0", kGen5x16, "8086:9d10", "0000:00:1c.0");
  cases.push_back(silent("pcie.behind_chipset", "a laptop with one GPU", laptop));
}

void add_slower_than_port(std::vector<Case>& cases) {
  Machine machine = two_pairs();
  machine.node("nic0").pci = PciLink{16.0, 16, 32.0, 16};
  machine.node("nic0").bus_id = "0000:17:00.0";
  machine.node("nic1").bus_id = "0002:17:00.0";
  cases.push_back(fires("pcie.slower_than_port", "400 Gbit/s on generation 4", machine, "does 400 Gbit/s"));
  Machine down = machine;
  down.node("nic0").active = false;
  cases.push_back(silent("pcie.slower_than_port", "a port that is down", down));
  machine.node("nic1").pci = PciLink{16.0, 16, 32.0, 16};
  for (const char* nic : {"nic0", "nic1"}) machine.device(nic).system_image_guid = "0011:2233:4455:6677";
  cases.push_back(silent("pcie.slower_than_port", "two halves of one card", machine));
  cases.push_back(silent("pcie.slower_than_port", "400 Gbit/s on generation 5", two_pairs()));
  Machine nominal = two_pairs();
  nominal.survey().source = "hwloc XML 2";
  nominal.node("nic0").device = "15b3:101b";
  nominal.node("nic0").network_gbs = 25;
  nominal.node("nic0").pci = PciLink{8.0, 16, 8.0, 16};
  cases.push_back(silent("pcie.slower_than_port", "a rate by the id, which HDR100 cards share", nominal));
  nominal.port("nic0").rate_gbs = 25;
  cases.push_back(fires("pcie.slower_than_port", "that rate is told", nominal, "does 200 Gbit/s"));
  nominal.node("nic0").pci = PciLink{16.0, 16, 16.0, 16};
  nominal.node("nic0").network_gbs = 50;
  nominal.device("nic0").ports.push_back(nominal.port("nic0"));
  cases.push_back(silent("pcie.slower_than_port", "two ports, each slower than the link", nominal));
  Machine qdr("packages:1 nic:1 eth:40");
  qdr.node("nic0").fabric = true;
  qdr.node("nic0").pci = PciLink{5.0, 8, 5.0, 8};
  cases.push_back(silent("pcie.slower_than_port", "QDR states its line rate", qdr));
  qdr.port("nic0");
  cases.push_back(fires("pcie.slower_than_port", "40 Gbit/s of Ethernet", qdr, "its PCIe link 4 GB/s"));
}

void add_errors(std::vector<Case>& cases) {
  const auto rates = [](Case one, Machine before, double seconds) {
    one.before = before;
    one.seconds = seconds;
    return one;
  };
  Machine before = two_pairs();
  before.device("nic0").correctable_errors = 1'000'000;
  before.device("nic0").fatal_errors = 0;
  Machine after = before;
  cases.push_back(rates(silent("pcie.errors_rising", "a total since boot", after), before, 60));
  after.device("nic0").correctable_errors = 1'000'100;
  cases.push_back(rates(fires("pcie.errors_rising", "rising now", after, "100 corrected errors in 60 s, 6000 an hour"),
                        before, 60));
  Case rare = rates(silent("pcie.errors_rising", "rarer than the site's threshold", after), before, 60);
  rare.site.thresholds.correctable_per_hour = 10'000;
  cases.push_back(rare);
  after.device("nic0").fatal_errors = 1;
  cases.push_back(
      rates(fires("pcie.errors_rising", "fatal", after, "1 uncorrectable errors", Severity::Error), before, 60));
}

}  // namespace

void add_pcie_cases(std::vector<Case>& cases) {
  add_acs(cases);
  add_peers(cases);
  add_links(cases);
  add_downgraded(cases);
  add_chipset(cases);
  add_slower_than_port(cases);
  add_errors(cases);
}

}  // namespace weft::topology::audit
