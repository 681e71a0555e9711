// Cases of the rules about where devices sit: sockets, NUMA nodes, switches, uplinks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "audit_cases.hpp"
#include "topology/import/import.hpp"

namespace weft::topology::audit {
namespace {

// GPUs that are far from NICs use those of others over NVLink, where there is any.
void add_detours(std::vector<Case>& cases) {
  Machine one_side("packages:2 gpu:4 gpus_per_switch:2 nic:4 ndr");
  for (const char* nic : {"nic2", "nic3"}) one_side.move(nic, "switch0");
  cases.push_back(fires("topo.socket_without_nic", "PXN needs NVLink", one_side, "until then use ranks of"));
  Machine joined("packages:2 gpu:4 nvswitch:450 gpus_per_switch:2 nic:4 ndr");
  for (const char* nic : {"nic2", "nic3"}) joined.move(nic, "switch0");
  cases.push_back(fires("topo.socket_without_nic", "NVLink joins the GPUs", joined, "until then use PXN (NCCL 2.12"));
  joined = one_side;
  joined.survey().source = "hwloc XML 2";
  cases.push_back(
      fires("topo.socket_without_nic", "NVLink is not told", joined, "if NVLink or XGMI joins the GPUs, or"));
  cases.push_back(fires("topo.gpu_without_near_nic", "one NIC cannot be near all",
                        Machine("packages:1 numa:4 gpu:4 gpus_per_switch:1 nic:1 ndr"),
                        "with one NIC: try NCCL_NET_GDR_LEVEL=SYS", Severity::Info));
  cases.push_back(fires("topo.gpu_without_near_nic", "one NIC and NVLink",
                        Machine("packages:1 numa:4 gpu:4 nvswitch:450 gpus_per_switch:1 nic:1 ndr"),
                        "with one NIC: use PXN", Severity::Info));
}

void add_sockets(std::vector<Case>& cases) {
  Machine one_side("packages:2 gpu:4 gpus_per_switch:2 nic:4 ndr");
  for (const char* nic : {"nic2", "nic3"}) one_side.move(nic, "switch0");
  cases.push_back(fires("topo.socket_without_nic", "all NICs on socket 0", one_side, "move nic2, nic3"));
  cases.push_back(silent("topo.gpu_without_near_nic", "told by socket", one_side));
  cases.push_back(silent("topo.nic_on_wrong_socket", "some GPUs are near", one_side));
  Machine single("packages:2 gpu:4 gpus_per_switch:2 nic:1 ndr");
  cases.push_back(fires("topo.socket_without_nic", "one NIC cannot be on both", single, "none of 1", Severity::Info));
  cases.push_back(silent("topo.socket_without_nic", "a NIC on each", Machine("packages:2 gpu:4 nic:2 ndr")));
  cases.push_back(silent("topo.socket_without_nic", "no fabric NIC", Machine("packages:2 gpu:4 nic:1 eth:25")));
  Machine down("packages:2 gpu:4 gpus_per_switch:2 nic:2 ndr");
  down.node("nic1").active = false;
  cases.push_back(fires("topo.socket_without_nic", "its NIC is down", down, "bring up nic1", Severity::Warning));

  Machine quadrants("packages:1 numa:4 gpu:4 gpus_per_switch:1 nic:2 ndr");
  cases.push_back(fires("topo.gpu_without_near_nic", "two NICs, four NUMA nodes", quadrants, "a SYS path"));
  const Result<Survey> table = read_nvidia_smi(
      "topo.txt",
      "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\nGPU0\t X \tSYS\tPIX\tPIX\t0-7\nGPU1\tSYS\t X \tSYS\tSYS\t8-15\n"
      "NIC0\tPIX\tSYS\t X \tPIX\nNIC1\tPIX\tSYS\tPIX\t X \nNIC Legend:\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n");
  cases.push_back(fires("topo.gpu_without_near_nic", "a rate that nobody told is not named", *table,
                        "the nearest fabric NIC of gpu1 is mlx5_0, a SYS path. Fix"));
  cases.push_back(silent("topo.gpu_without_near_nic", "a NIC on each",
                         Machine("packages:1 numa:4 gpu:4 gpus_per_switch:1 nic:4 ndr")));

  Machine wrong("packages:2 gpu:2 gpus_per_switch:1 nic:2 ndr");
  cases.push_back(silent("topo.nic_on_wrong_socket", "each at its GPU", wrong));
  wrong.move("gpu1", "switch0");
  wrong.move("nic0", "switch1");
  cases.push_back(fires("topo.nic_on_wrong_socket", "GPUs on one, NICs on the other", wrong,
                        "they are on package1, where no GPU is; all 2 GPUs are on package0"));
  cases.push_back(
      fires("topo.nic_on_wrong_socket", "its fix names the place", wrong, "move the cards to slots of package0"));
  cases.push_back(silent("topo.socket_without_nic", "no GPU is near a NIC", wrong));
  for (const char* nic : {"nic0", "nic1"}) wrong.node(nic).active = false;
  cases.push_back(silent("topo.nic_on_wrong_socket", "ports that are down", wrong));
}

// Sockets of several NUMA nodes.
void add_quadrants(std::vector<Case>& cases) {
  Machine both("packages:2 numa:4 gpu:4 gpus_per_switch:1 nic:1 ndr");  // its NIC is at gpu3
  both.move("gpu3", "switch2");
  cases.push_back(silent("topo.nic_on_wrong_socket", "GPUs on both, the NIC on a NUMA node of its own", both));
  Machine same = both;
  for (const char* gpu : {"gpu0", "gpu1"}) same.move(gpu, "switch2");
  cases.push_back(silent("topo.nic_on_wrong_socket", "GPUs on another NUMA node of the NIC's socket", same));
  same.move("nic0", "switch0");
  cases.push_back(fires("topo.nic_on_wrong_socket", "GPUs and NIC on NUMA nodes of two sockets", same,
                        "move the card to a slot of package1"));
}

Survey numas_of_nccl(int first, std::string_view first_cpus, int second, std::string_view second_cpus) {
  const std::string text = fmt::format(
      "<system version=\"1\"><cpu numaid=\"{}\" affinity=\"{}\" arch=\"x86_64\" vendor=\"AuthenticAMD\">"
      "<pci busid=\"0000:11:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" link_speed=\"32.0 GT/s "
      "PCIe\" link_width=\"16\"><gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"/></pci></cpu><cpu numaid=\"{}\" "
      "affinity=\"{}\" arch=\"x86_64\" vendor=\"AuthenticAMD\"><pci busid=\"0000:12:00.0\" class=\"0x020700\" "
      "vendor=\"0x15b3\" device=\"0x1021\" link_speed=\"32 GT/s\" link_width=\"16\"><nic><net name=\"mlx5_0\" "
      "dev=\"0\" port=\"1\" speed=\"400000\" guid=\"0xa1\" gdr=\"1\"/></nic></pci></cpu></system>",
      first, first_cpus, second, second_cpus);
  Result<Survey> survey = read_nccl_xml("topo.xml", text);
  EXPECT_TRUE(survey) << survey.status().to_string();
  return survey ? std::move(survey).value() : Survey();
}

// A source without packages.
void add_numas_as_sockets(std::vector<Case>& cases) {
  cases.push_back(fires("topo.nic_on_wrong_socket", "two NUMA nodes that can be all there are",
                        numas_of_nccl(0, "0000000f", 1, "000000f0"), "move the card to a slot of numa0"));
  cases.push_back(silent("topo.nic_on_wrong_socket", "two of several NUMA nodes, by their numbers",
                         numas_of_nccl(1, "000000f0", 3, "0000f000")));
  cases.push_back(silent("topo.nic_on_wrong_socket", "two of several NUMA nodes, by their CPUs",
                         numas_of_nccl(0, "00000f0f", 1, "0f0f0000")));
}

// A slow card for logins beside the fabric's.
void add_slow_nics(std::vector<Case>& cases) {
  Machine machine("packages:2 gpu:4 gpus_per_switch:2 nic:4 ndr");
  machine.node("nic2").active = false;
  machine.node("nic3").network_gbs = 3.125;
  cases.push_back(fires("topo.socket_without_nic", "only a slow NIC is up on it", machine, "none of 2 (nic0, nic1)"));
  machine.node("nic3").active = false;
  cases.push_back(fires("topo.socket_without_nic", "a slow NIC that is down, too", machine, "bring up nic2; until"));
  Machine far("packages:1 numa:4 gpu:4 gpus_per_switch:1 nic:4 ndr");
  far.node("nic1").active = false;
  cases.push_back(fires("topo.gpu_without_near_nic", "its own NIC is down", far,
                        "the nearest fabric NIC of gpu1 is nic0, a SYS path", Severity::Warning));
}

void add_unknown(std::vector<Case>& cases) {
  Machine machine("packages:2 gpu:1 nic:1 ndr");
  Graph& graph = machine.survey().graph;
  const int bridge = machine.node("pci0").id;
  for (Link& link : graph.links) {
    if (link.b == bridge) link.a = 0;
    if (link.a == bridge && graph.nodes[static_cast<std::size_t>(link.b)].kind == NodeKind::Numa) link.b = 0;
  }
  machine.node("pci0").parent = 0;
  for (const char* device : {"gpu0", "nic0"}) machine.node(device).cpus = graph.nodes[0].cpus;
  cases.push_back(fires("topo.numa_unknown", "devices of the machine alone", machine, "machine with 2 NUMA nodes"));
  Machine told = machine;
  for (const char* device : {"gpu0", "nic0"}) told.device(device).numa = 1;
  cases.push_back(silent("topo.numa_unknown", "numa_node is told, the list of CPUs is not", told));
  for (const char* device : {"gpu0", "nic0"}) machine.node(device).cpus = "0";
  cases.push_back(silent("topo.numa_unknown", "near a part of the CPUs", machine));
  cases.push_back(silent("topo.numa_unknown", "one NUMA node", Machine("packages:1 gpu:1")));
}

// Two GPUs below one switch whose NICs are below another.
Machine apart() {
  Machine machine("packages:1 gpu:4 gpus_per_switch:2 nic:2 ndr");
  for (const char* gpu : {"gpu0", "gpu1"}) machine.move(gpu, "switch0");
  for (const char* nic : {"nic0", "nic1"}) machine.move(nic, "switch1");
  for (const char* gpu : {"gpu2", "gpu3"}) machine.move(gpu, "switch0");
  return machine;
}

// Storage below a switch, with a link of that rate.
void add_storage(Machine& machine, std::string_view above, int count, int lanes, double gbs) {
  Graph& graph = machine.survey().graph;
  for (int i = 0; i < count; ++i) {
    Node storage;
    storage.kind = NodeKind::Storage;
    storage.name = "nvme" + std::to_string(i) + "n1";
    storage.parent = machine.node(above).id;
    storage.pci.width = lanes;
    const int parent = storage.parent;
    graph.connect(parent, graph.add(std::move(storage)), LinkKind::Pci, gbs, 0.1, "sysfs");
  }
}

// A GPU below a switch whose NIC is not: 25 of the 31.5 GB/s of the uplink are asked for.
Machine uplink() {
  Machine machine("packages:1 gpu:1 nic:1 hdr pcie:4");
  machine.move("nic0", "pci0");
  return machine;
}

void add_storage_loads(std::vector<Case>& cases) {
  Machine drives = uplink();
  add_storage(drives, "switch0", 4, 4, 7.877);
  cases.push_back(
      fires("topo.shared_uplink", "four drives below the switch of a GPU", drives,
            "gpu0 to nic0 may ask for 25, and 4 storage devices (nvme0n1, nvme1n1, nvme2n1, nvme3n1) for 31.51",
            Severity::Info));
  Machine adapter = uplink();
  add_storage(adapter, "switch0", 1, 8, 15.75);
  cases.push_back(fires("topo.shared_uplink", "an adapter for drives", adapter, "1 storage device", Severity::Info));
  Machine boot = uplink();
  add_storage(boot, "switch0", 1, 4, 15.75);
  cases.push_back(silent("topo.shared_uplink", "the drive that the machine boots from", boot));
  Machine slow = uplink();
  add_storage(slow, "switch0", 2, 2, 1.969);
  cases.push_back(silent("topo.shared_uplink", "drives that fit beside the GPU", slow));
  Machine inside("packages:1 gpu:1 nic:1 hdr pcie:4");
  add_storage(inside, "switch0", 8, 4, 7.877);
  cases.push_back(silent("topo.shared_uplink", "the GPU reaches its NIC inside the switch, beside drives", inside));
  Machine elsewhere = uplink();
  add_storage(elsewhere, "pci0", 8, 4, 7.877);
  cases.push_back(silent("topo.shared_uplink", "drives on ports of their own", elsewhere));
}

void add_loads(std::vector<Case>& cases) {
  Machine machine = apart();
  cases.push_back(fires("topo.shared_uplink", "two 400 Gbit/s NICs behind one uplink", machine, "is asked for 100"));
  cases.push_back(silent("topo.shared_uplink", "traffic stays in the switch", Machine("packages:2 gpu:4 nic:4 ndr")));
  cases.push_back(silent("topo.shared_uplink", "a box of PCIe cards", Machine("pcie-8gpu")));
  Machine levels = apart();
  levels.move("switch0", "switch1");
  cases.push_back(fires("topo.shared_uplink", "a switch below a switch", levels, "is asked for 100"));
  for (const char* name : {"switch0", "switch1"}) levels.node(name).device = "1000:c010";
  cases.push_back(silent("topo.shared_uplink", "two levels of one Broadcom switch", levels));
  machine.virtual_machine(true);
  cases.push_back(silent("topo.shared_uplink", "in a virtual machine", machine));
  Machine idle = apart();
  for (const char* name : {"switch0", "switch1"}) idle.node(name).pci = PciLink{2.5, 16, {}, {}};
  cases.push_back(silent("topo.shared_uplink", "a source that tells only how links run now", idle));

  Machine narrow("packages:1 gpu:1 gpus_per_switch:1 nic:1 ndr");
  narrow.add_port("gpu0", PciLink{32.0, 4, 32.0, 4});
  for (Link& link : narrow.survey().graph.links)
    if (link.b == narrow.node("port-gpu0").id) link.bandwidth_gbs = 15.75;
  cases.push_back(fires("topo.path_narrows", "an uplink of four lanes", narrow, "carries 15.75 GB/s"));
  narrow.virtual_machine(true);
  cases.push_back(silent("topo.path_narrows", "in a virtual machine", narrow));
  cases.push_back(
      silent("topo.path_narrows", "as wide as both", Machine("packages:1 gpu:1 gpus_per_switch:1 nic:1 ndr")));
}

void add_order(std::vector<Case>& cases) {
  Machine machine("packages:2 gpu:4 gpus_per_switch:1 nic:4 ndr");
  cases.push_back(silent("topo.nic_order_reversed", "in order", machine));
  for (int i = 0; i < 4; ++i) machine.move("nic" + std::to_string(i), "switch" + std::to_string(3 - i));
  cases.push_back(fires("topo.nic_order_reversed", "against the order", machine, "gpu0 pairs with nic3"));
  Machine two("packages:2 gpu:2 gpus_per_switch:1 nic:2 ndr");
  for (int i = 0; i < 2; ++i) two.move("nic" + std::to_string(i), "switch" + std::to_string(1 - i));
  cases.push_back(silent("topo.nic_order_reversed", "two are no order", two));
}

}  // namespace

void add_place_cases(std::vector<Case>& cases) {
  add_sockets(cases);
  add_detours(cases);
  add_quadrants(cases);
  add_numas_as_sockets(cases);
  add_slow_nics(cases);
  add_unknown(cases);
  add_loads(cases);
  add_storage_loads(cases);
  add_order(cases);
}

}  // namespace weft::topology::audit
