// Public reports of people whose node was set up wrongly, rebuilt as far as their evidence can be stated, and what the
// audit says to each: finding, evidence and fix. The numbers are those of the project's collection of such reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/topology/support/audit_cases.hpp"
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// "error pcie.acs_redirect SUBJECT: EVIDENCE | FIX"; empty if the rule says nothing.
std::string told(const Survey& survey, std::string_view rule) {
  for (const Finding& one : audit(survey))
    if (one.id == rule)
      return std::string(to_string(one.severity)) + " " + std::string(one.id) + " " + one.subject + ": " +
             one.evidence + " | " + one.fix;
  return {};
}

void name_all(Machine& machine, std::string_view kind, int count, std::string_view device) {
  for (int i = 0; i < count; ++i) machine.node(std::string(kind) + std::to_string(i)).device = std::string(device);
}

// A node with InfiniBand, the closed NVIDIA driver and without nvidia_peermem.
Machine without_peermem(std::string_view line) {
  Machine machine(line);
  machine.modules({"nvidia", "mlx5_core", "mlx5_ib"});
  machine.host().kernel.nvidia_open = false;
  machine.host().kernel.nvidia_driver = "535.129.03";
  machine.host().kernel.version = "5.15.0-91-generic";
  return machine;
}

TEST(Report01, acs_on_the_switch_between_gpu_and_nic) {
  Machine machine("packages:1 gpu:2 gpus_per_switch:2 nic:1 hdr");
  machine.node("switch0").bus_id = "0000:3b:00.0";
  machine.device("switch0").acs = AcsFacts{true, true, false, false, false};
  EXPECT_THAT(told(machine, "pcie.acs_redirect"),
              AllOf(HasSubstr("error pcie.acs_redirect switch0"), HasSubstr("gpu0 and nic0"),
                    HasSubstr("setpci -s 0000:3b:00.0 ECAP_ACS+6.w=0000")));
}

TEST(Report03, iommu_translates_on_a_geforce_box) {
  Machine machine("packages:1 gpu:4 gpus_per_switch:2 pcie:3");
  machine.virtual_machine(false);
  machine.host().kernel.command_line = "BOOT_IMAGE=/vmlinuz ro intel_iommu=on";
  EXPECT_THAT(told(machine, "kernel.iommu_translating"), AllOf(HasSubstr("error"), HasSubstr("iommu=pt")));
}

TEST(Report05, two_gpus_below_one_switch_are_slower) {
  Machine machine("packages:1 gpu:4 gpus_per_switch:2 pcie:3");
  const auto copy = [&](const char* from, const char* to, double gbs) {
    machine.survey().measurements.push_back({machine.node(from).id, machine.node(to).id, "gpu", false, gbs, {}});
  };
  copy("gpu0", "gpu1", 6);
  copy("gpu0", "gpu2", 9);
  EXPECT_THAT(told(machine, "perf.pix_slower_than_phb"),
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
  EXPECT_THAT(told(machine, "vm.topology_hidden"),
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
  EXPECT_THAT(told(machine, "pcie.link_unknown"), HasSubstr("warning pcie.link_unknown gpu0, gpu1, gpu2, gpu3"));
  EXPECT_THAT(told(machine, "env.suggest"), AllOf(HasSubstr("info"), HasSubstr("NCCL_P2P_LEVEL=PXB")));
}

TEST(Report10, azure_pod_without_its_topology_file) {
  Machine machine("packages:2 gpu:8 gpus_per_switch:1 nic:8 hdr");
  machine.virtual_machine(true);
  machine.host().platform.vendor = "Microsoft Corporation";
  machine.host().container.kind = "kubernetes";
  machine.host().topology_file_present = false;
  machine.set("");
  EXPECT_THAT(told(machine, "vm.topology_file_missing"),
              AllOf(HasSubstr("error"), HasSubstr("of this container"), HasSubstr("mount the file of /opt/microsoft")));
}

TEST(Report12, nics_in_reverse_order_and_cross_nic) {
  Machine machine("packages:2 gpu:8 gpus_per_switch:1 nic:8 ndr");
  for (int i = 0; i < 8; ++i) {
    machine.move("nic" + std::to_string(i), "switch" + std::to_string(7 - i));
    machine.node("nic" + std::to_string(i)).bus_id = "0000:1" + std::to_string(i / 2) + ":00." + std::to_string(i % 2);
  }
  machine.set("NCCL_CROSS_NIC", "2");
  EXPECT_THAT(told(machine, "topo.nic_order_reversed"), HasSubstr("gpu0 pairs with nic7"));
  EXPECT_THAT(told(machine, "env.cross_nic"), AllOf(HasSubstr("is 2"), HasSubstr("NCCL_CROSS_NIC=0")));
}

TEST(Report13, dockers_shared_memory) {
  Machine machine("packages:2 gpu:8 nvswitch:300");
  machine.host().container.shm_bytes = std::uint64_t{64} << 20;
  EXPECT_THAT(told(machine, "limits.shm_small"),
              AllOf(HasSubstr("error limits.shm_small /dev/shm: holds 64 MiB; NCCL needs about 152 MiB for 8 GPUs"),
                    HasSubstr("--shm-size")));
}

TEST(Report14, locked_memory_of_the_launchers_daemon) {
  Machine machine("packages:2 gpu:8 nic:8 hdr");
  machine.host().process.memlock_bytes = 8192 * 1024;
  EXPECT_THAT(told(machine, "limits.memlock"),
              AllOf(HasSubstr("error"), HasSubstr("8192 KiB"), HasSubstr("not in a login shell")));
}

TEST(Report16, pod_without_ipc_lock) {
  Machine machine("packages:2 gpu:8 nic:8 hdr");
  machine.host().process.memlock_bytes = 64 * 1024;
  machine.host().process.may_lock_all = false;
  machine.host().container.kind = "kubernetes";
  EXPECT_THAT(told(machine, "container.cap_ipc_lock"), AllOf(HasSubstr("error"), HasSubstr("--cap-add=IPC_LOCK")));
  EXPECT_EQ(told(machine, "limits.memlock"), "");
}

TEST(Report17, no_peermem_and_slow_ports_in_the_pool) {
  Machine machine = without_peermem("packages:2 gpu:4 gpus_per_switch:1 nic:4 hdr");
  machine.node("nic3").network_gbs = 5;
  EXPECT_THAT(told(machine, "gdr.peermem_missing"), AllOf(HasSubstr("error"), HasSubstr("modprobe nvidia-peermem")));
  EXPECT_THAT(told(machine, "net.mixed_speed"),
              AllOf(HasSubstr("warning net.mixed_speed nic3: 40 Gbit/s, beside nic0, nic1, nic2 at 200 Gbit/s"),
                    HasSubstr("NCCL_IB_HCA==nic0,nic1,nic2")));
}

TEST(Report18, acs_no_peermem_and_a_port_down) {
  Machine machine = without_peermem("packages:1 gpu:1 gpus_per_switch:1 nic:2 hdr");
  machine.device("switch0").acs = AcsFacts{true, true, false, false, false};
  machine.node("nic0").bus_id = "0000:3b:00.0";
  machine.node("nic1").bus_id = "0000:3b:00.1";
  for (const char* nic : {"nic0", "nic1"}) machine.node(nic).device = "15b3:101b";
  machine.node("nic0").active = true;
  machine.node("nic1").active = false;
  machine.port("nic1").state = "DOWN";
  machine.port("nic1").physical_state = "Disabled";
  EXPECT_THAT(told(machine, "gdr.peermem_missing"), HasSubstr("error"));
  EXPECT_THAT(told(machine, "pcie.acs_redirect"), HasSubstr("error"));
  EXPECT_THAT(told(machine, "net.port_down"), AllOf(HasSubstr("info net.port_down nic1"), HasSubstr("DOWN, Disabled")));
}

TEST(Report19, peermem_on_one_node_only) {
  Machine machine("hosts:2 gpu:2 nic:2 hdr", 2);
  for (int host : {0, 1}) {
    machine.modules({"nvidia", "mlx5_core"}, host);
    machine.host(host).kernel.version = "5.15.0";
  }
  machine.modules({"nvidia", "mlx5_core", "nvidia_peermem"}, 0);
  EXPECT_THAT(told(machine, "gdr.peermem_missing"), AllOf(HasSubstr("error gdr.peermem_missing host1: nvidia_peermem"),
                                                          HasSubstr("; host0 can do GPUDirect RDMA")));
}

TEST(Report21, peermem_built_against_another_core) {
  Machine machine = without_peermem("packages:2 gpu:8 nic:8 hdr");
  machine.modules({"nvidia", "nvidia_peermem"});
  machine.host().kernel.peer_memory_clients.emplace();
  EXPECT_THAT(told(machine, "gdr.peermem_unregistered"), AllOf(HasSubstr("error"), HasSubstr("built against")));
}

TEST(Report22, cube_mesh_with_both_nics_on_one_socket) {
  Machine machine = without_peermem("packages:2 gpu:8 gpus_per_switch:2 nic:2 edr pcie:3");
  machine.move("nic1", "switch1");
  EXPECT_THAT(told(machine, "gdr.peermem_missing"), HasSubstr("error"));
  EXPECT_THAT(told(machine, "topo.socket_without_nic"),
              HasSubstr("warning topo.socket_without_nic package1: gpu4, gpu5, gpu6, gpu7 are on it"));
}

Machine roce() {
  Machine machine("packages:1 gpu:1 nic:1 hdr");
  machine.port("nic0").gids = {{0, "fe80:0000:0000:0000:0e42:a1ff:fe00:0001", "IB/RoCE v1", "eth1"},
                               {1, "fe80:0000:0000:0000:0e42:a1ff:fe00:0001", "RoCE v2", "eth1"},
                               {2, "0000:0000:0000:0000:0000:ffff:0a00:0004", "IB/RoCE v1", "eth1"},
                               {3, "0000:0000:0000:0000:0000:ffff:0a00:0004", "RoCE v2", "eth1"}};
  return machine;
}

TEST(Report24, gid_index_of_a_link_local_address) {
  Machine machine = roce();
  machine.set("NCCL_IB_GID_INDEX", "1");
  EXPECT_THAT(told(machine, "roce.gid_index"),
              AllOf(HasSubstr("error"), HasSubstr("link-local, RoCE v2"), HasSubstr("| NCCL_IB_GID_INDEX=3")));
}

TEST(Report26, addresses_of_ipv6_only) {
  Machine machine = roce();
  machine.port("nic0").gids.resize(2);
  EXPECT_THAT(told(machine, "roce.no_ipv4_gid"), AllOf(HasSubstr("warning"), HasSubstr("an IPv4 address")));
}

TEST(Report27, rails_that_are_not_joined) {
  Machine machine("hosts:2 gpu:2 gpus_per_switch:1 nic:2 ndr", 2);
  Graph& graph = machine.survey().graph;
  Node rail;
  rail.kind = NodeKind::NetworkSwitch;
  rail.name = "rail1";
  rail.host = -1;
  const int made = graph.add(rail);
  for (Link& link : graph.links) {
    if (link.kind != LinkKind::Network) continue;
    int& to = graph.nodes[static_cast<std::size_t>(link.a)].kind == NodeKind::NetworkSwitch ? link.a : link.b;
    if (graph.nodes[static_cast<std::size_t>(to == link.a ? link.b : link.a)].name == "nic1") to = made;
  }
  ASSERT_TRUE(graph.check().ok()) << graph.check().to_string();
  EXPECT_THAT(told(machine, "fabric.rail_only"), AllOf(HasSubstr("warning"), HasSubstr("NCCL_CROSS_NIC=0")));
}

TEST(Report28, mtu_of_two_nodes_differs) {
  Machine machine("hosts:2 gpu:1 nic:1 hdr", 2);
  for (int host : {0, 1}) {
    machine.port("nic0", host).active_mtu = host == 0 ? 1024 : 4096;
    machine.port("nic0", host).rate_gbs = 25;
    machine.port("nic0", host).gids = {{3, "0000:0000:0000:0000:0000:ffff:0a00:0004", "RoCE v2", "eth1"}};
    machine.interface("eth1", "physical", host == 0 ? "10.0.0.4" : "10.0.0.5", host).mtu = host == 0 ? 1500 : 9000;
  }
  EXPECT_THAT(told(machine, "roce.mtu"), AllOf(HasSubstr("error roce.mtu host0/nic0: active_mtu 1024 (eth1 has 1500), "
                                                         "other ports 4096"),
                                               HasSubstr("MTU 9000")));
}

TEST(Report30, veth_as_bootstrap_interface) {
  Machine machine("packages:2 gpu:8");
  machine.interface("lo", "loopback", "127.0.0.1");
  machine.interface("veth0123", "veth", "10.42.0.1");
  machine.interface("eth0", "physical", "10.0.0.4").default_route = true;
  machine.set("");
  EXPECT_THAT(told(machine, "net.bootstrap_iface"),
              AllOf(HasSubstr("error net.bootstrap_iface veth0123"), HasSubstr("| export NCCL_SOCKET_IFNAME==eth0")));
}

TEST(Report32, every_bridge_is_used) {
  Machine machine("packages:2 gpu:8");
  machine.interface("eth0", "physical", "10.0.0.4").default_route = true;
  machine.interface("br-0123", "bridge", "172.18.0.1");
  machine.interface("veth0123", "veth", "172.18.0.2");
  machine.interface("cali0123", "veth", "10.42.0.1");
  machine.set("");
  EXPECT_THAT(told(machine, "net.socket_ifaces"),
              AllOf(HasSubstr("warning"), HasSubstr("3 virtual interfaces"), HasSubstr("NCCL_SOCKET_IFNAME==eth0")));
}

TEST(Report33, pod_identity_after_efa_failed) {
  Machine machine("packages:2 gpu:8 gpus_per_switch:2 nic:4 efa100");
  machine.host().container.kind = "kubernetes";
  machine.host().container.infiniband_devices.emplace();
  machine.interface("eth0", "veth", "10.0.0.4").default_route = true;
  machine.interface("pod-id-link0", "veth", "169.254.170.23");
  machine.set("");
  EXPECT_THAT(told(machine, "efa.no_devices"), AllOf(HasSubstr("error"), HasSubstr("vpc.amazonaws.com/efa")));
  EXPECT_THAT(told(machine, "net.linklocal_iface"),
              AllOf(HasSubstr("error net.linklocal_iface pod-id-link0"), HasSubstr("NCCL_SOCKET_IFNAME==eth0")));
}

TEST(Report34, bridge_with_three_of_four_links) {
  Machine machine("packages:1 gpu:2 gpus_per_switch:1 nvlink:42");
  name_all(machine, "gpu", 2, "10de:2204");
  for (Link& link : machine.survey().graph.links)
    if (link.kind == LinkKind::NvLink) link.count = 3;
  EXPECT_THAT(told(machine, "nvlink.links_missing"),
              AllOf(HasSubstr("error nvlink.links_missing gpu0: 3 of 4 NVLinks"), HasSubstr("NVLink bridge")));
}

TEST(Report36, fabric_manager_does_not_run) {
  Machine machine("dgx-h100");
  machine.host().fabric_manager = false;
  machine.host().kernel.nvidia_driver = "550.54.15";
  for (int i = 0; i < 8; ++i) machine.device("gpu" + std::to_string(i)).fabric_state = "in progress";
  EXPECT_THAT(told(machine, "nvswitch.fabricmanager"),
              AllOf(HasSubstr("error"), HasSubstr("\"in progress\""), HasSubstr("nvidia-fabricmanager 550.54.15")));
}

TEST(Report37, fabric_manager_was_restarted) {
  Machine machine("dgx-h100");
  machine.host().fabric_manager_start_s = 86'400;
  for (int i = 0; i < 8; ++i) machine.device("gpu" + std::to_string(i)).fabric_registered_s = 120;
  EXPECT_THAT(told(machine, "nvswitch.fm_restarted"), AllOf(HasSubstr("warning"), HasSubstr("--gpu-reset")));
}

TEST(Report39, h100_nvl_has_twelve_links) {
  Machine machine("packages:2 gpu:2 gpus_per_switch:1 nvlink:300");
  name_all(machine, "gpu", 2, "10de:2321");
  for (Link& link : machine.survey().graph.links)
    if (link.kind == LinkKind::NvLink) link.count = 12;
  for (const char* gpu : {"gpu0", "gpu1"}) {
    for (int i = 0; i < 18; ++i) machine.device(gpu).nvlinks.push_back({i, i < 12, {}, {}, {}, {}});
  }
  EXPECT_THAT(audit(machine), IsEmpty());
}

// CPUs 0-23 near GPU 0 and 1, 24-47 near the others.
Machine slurm(std::string_view gpus, std::string_view cpus) {
  Machine machine("packages:2 cores:24 gpu:4 gpus_per_switch:2");
  machine.set("CUDA_VISIBLE_DEVICES", gpus);
  machine.host().process.allowed_cpus = std::string(cpus);
  machine.host().container.cgroup_cpus = std::string(cpus);
  return machine;
}

TEST(Report41, mask_of_slurm_is_narrow) {
  EXPECT_THAT(told(slurm("0", "0-7"), "affinity.cpuset_narrow"),
              AllOf(HasSubstr("warning"), HasSubstr("8 of the 24 near gpu0"), HasSubstr("--cpu-bind=map_ldom")));
}

TEST(Report42, cgroup_without_a_near_cpu) {
  EXPECT_THAT(told(slurm("2", "0-7"), "affinity.empty_intersection"),
              AllOf(HasSubstr("error affinity.empty_intersection gpu2"), HasSubstr("do not bind where")));
}

TEST(Report45, torchrun_does_not_bind) {
  Machine machine = slurm("0,1,2,3", "0-47");
  machine.set("LOCAL_RANK", "0");
  EXPECT_THAT(told(machine, "affinity.unbound"), AllOf(HasSubstr("info"), HasSubstr("topo-probe --bindings")));
}

TEST(Report46, memory_was_touched_before_the_binding) {
  Machine machine = slurm("0", "0-23");
  machine.host().process.resident = {{0, 780'000}, {1, 220'000}};
  EXPECT_THAT(told(machine, "affinity.remote_pages"),
              AllOf(HasSubstr("warning"), HasSubstr("22% of"), HasSubstr("(node 1), its CPUs on node 0")));
}

TEST(Report48, numa_is_off_on_one_node_of_two) {
  Machine machine("hosts:2 packages:2 gpu:8 nic:8 ndr", 2);
  for (Node& node : machine.survey().graph.nodes)
    if (node.kind == NodeKind::Numa && node.host == 1 && node.name != "numa0") node.cpus.clear();
  machine.host(1).kernel.command_line = "ro numa=off";
  EXPECT_THAT(told(machine, "kernel.numa_off"),
              AllOf(HasSubstr("error kernel.numa_off host1: NUMA: 2 packages but 1 NUMA node"),
                    HasSubstr("1 of 2 hosts has several"), HasSubstr("remove numa=off")));
}

TEST(Report49, epyc_with_one_node_per_socket) {
  Machine machine("packages:2 cores:32 gpu:8 gpus_per_switch:1");
  for (const char* package : {"package0", "package1"}) machine.node(package).model = "AMD EPYC 7543 32-Core Processor";
  name_all(machine, "gpu", 8, "10de:20b5");
  machine.virtual_machine(false);
  machine.host().kernel.iommu_type = "DMA";
  EXPECT_THAT(told(machine, "bios.nps"), AllOf(HasSubstr("info"), HasSubstr("NPS1"), HasSubstr("try NPS4")));
  EXPECT_THAT(told(machine, "kernel.iommu_translating"), HasSubstr("error"));
}

TEST(Report50, numa_balancing_stalls) {
  Machine machine("packages:2 gpu:8 nic:8 ndr");
  machine.host().kernel.numa_balancing = true;
  EXPECT_THAT(told(machine, "kernel.numa_balancing"),
              AllOf(HasSubstr("warning"), HasSubstr("sysctl -w kernel.numa_balancing=0")));
}

TEST(Report51, four_ports_two_cables) {
  Machine machine("packages:2 gpu:4 gpus_per_switch:2 nic:4 edr");
  for (int i = 0; i < 4; ++i) {
    Node& nic = machine.node("nic" + std::to_string(i));
    nic.device = "15b3:101b";
    nic.active = true;
    nic.bus_id = "0000:" + std::to_string(i + 1) + "0:00.0";
    machine.device(nic.name).system_image_guid = i % 2 == 0 ? "0011:2233:4455:0000" : "0011:2233:4455:0001";
  }
  EXPECT_THAT(told(machine, "net.shared_port"),
              AllOf(HasSubstr("warning net.shared_port nic0, nic2"), HasSubstr("count the card once")));
  EXPECT_THAT(told(machine, "net.rate_below_cap"), AllOf(HasSubstr("warning"), HasSubstr("100 of 200 Gbit/s")));
}

TEST(Report53, nic_names_differ_between_nodes) {
  Machine machine("hosts:3 gpu:2 nic:2 hdr", 3);
  for (int host = 0; host < 3; ++host)
    for (int nic : {0, 1})
      machine.node("host" + std::to_string(host) + "/nic" + std::to_string(nic)).bus_id =
          (nic == 0) != (host == 2) ? "0000:10:00.0" : "0000:20:00.0";
  EXPECT_THAT(told(machine, "net.names_differ"),
              AllOf(HasSubstr("host2: nic0: is 0000:20:00.0, on 2 other hosts 0000:10:00.0"), HasSubstr("slots")));
}

TEST(Report54, all_nics_on_socket_0) {
  Machine machine("packages:2 gpu:4 gpus_per_switch:2 nic:4 hdr");
  for (const char* nic : {"nic2", "nic3"}) machine.move(nic, "switch0");
  EXPECT_THAT(told(machine, "topo.socket_without_nic"),
              AllOf(HasSubstr("warning topo.socket_without_nic package1: gpu2, gpu3 are on it"),
                    HasSubstr("| move nic2, nic3 to slots of that socket")));
}

TEST(Report55, two_nics_four_numa_nodes) {
  Machine machine("packages:1 numa:4 gpu:4 gpus_per_switch:1 nic:2 hdr");
  machine.move("nic0", "switch1");
  machine.move("nic1", "switch2");
  EXPECT_THAT(told(machine, "topo.gpu_without_near_nic"),
              AllOf(HasSubstr("warning topo.gpu_without_near_nic gpu0, gpu3"),
                    HasSubstr("move a NIC to the GPU's NUMA node, or try NCCL_NET_GDR_LEVEL=SYS")));
}

TEST(Report57, container_without_efa_and_network) {
  Machine machine("packages:2 gpu:8 gpus_per_switch:2 nic:4 efa100");
  machine.host().container.kind = "docker";
  machine.host().container.infiniband_devices.emplace();
  machine.interface("lo", "loopback", "127.0.0.1");
  machine.set("NCCL_SOCKET_IFNAME", "^docker0");
  EXPECT_THAT(told(machine, "efa.no_devices"),
              AllOf(HasSubstr("error"), HasSubstr("--device=/dev/infiniband/uverbs0")));
  EXPECT_THAT(told(machine, "net.bootstrap_iface"),
              AllOf(HasSubstr("error net.bootstrap_iface lo"), HasSubstr("give the container the host's network")));
}

TEST(Report58, gpu_direct_is_off_on_efa) {
  Machine machine("packages:2 gpu:8 gpus_per_switch:2 nic:4 efa100");
  for (int i = 0; i < 4; ++i) machine.node("nic" + std::to_string(i)).device = "1d0f:efa1";
  machine.set("FI_EFA_USE_DEVICE_RDMA", "0");
  EXPECT_THAT(told(machine, "efa.gdr_unavailable"), AllOf(HasSubstr("error"), HasSubstr("FI_EFA_USE_DEVICE_RDMA=1")));
  EXPECT_THAT(told(machine, "env.no_net_pin"), HasSubstr("NCCL_NET=\"AWS Libfabric\""));
}

TEST(Report60, gpus_only_as_pci_devices) {
  Machine machine("packages:2 gpu:4 gpus_per_switch:2");
  name_all(machine, "gpu", 4, "10de:1db4");
  machine.survey().source = "hwloc XML";
  EXPECT_THAT(told(machine, "hwloc.no_gpu_backend"), AllOf(HasSubstr("info"), HasSubstr("by PCI id only")));
}

TEST(Report61, an_idle_gpu_is_not_downgraded) {
  Machine machine("packages:1 gpu:2 gpus_per_switch:1");
  machine.add_port("gpu0", PciLink{32.0, 16, 32.0, 16});
  machine.node("gpu0").device = "10de:2684";
  machine.node("gpu0").pci.gts = 2.5;
  machine.device("gpu0").power_state = "P8";
  EXPECT_THAT(told(machine, "pcie.link_idle"),
              HasSubstr("info pcie.link_idle gpu0: at 2.5 of 32 GT/s while idle (P8)"));
  EXPECT_EQ(told(machine, "pcie.link_downgraded"), "");
}

TEST(Report62, one_card_hangs_on_the_chipset) {
  Machine machine("packages:1 cores:16 gpu:2 gpus_per_switch:1 pcie:4");
  machine.add_port("gpu0", PciLink{16.0, 4, 16.0, 4}, "8086:7ab8", "0000:00:1c.0");
  EXPECT_THAT(told(machine, "pcie.behind_chipset"),
              AllOf(HasSubstr("warning pcie.behind_chipset gpu0"), HasSubstr("port 0000:00:1c.0; expect about half"),
                    HasSubstr("move the card")));
}

}  // namespace
}  // namespace weft::topology::audit
