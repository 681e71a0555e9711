// Public reports of GPUDirect RDMA: nvidia_peermem, ports beside it, EFA; see told_of().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/audit_cases.hpp"
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A node with InfiniBand, the closed NVIDIA driver and without nvidia_peermem.
Machine without_peermem(std::string_view line) {
  Machine machine(line);
  machine.modules({"nvidia", "mlx5_core", "mlx5_ib"});
  machine.host().kernel.nvidia_open = false;
  machine.host().kernel.nvidia_driver = "535.129.03";
  machine.host().kernel.version = "5.15.0-91-generic";
  return machine;
}

TEST(Report17, no_peermem_and_slow_ports_in_the_pool) {
  Machine machine = without_peermem("packages:2 gpu:4 gpus_per_switch:1 nic:4 hdr");
  machine.node("nic3").network_gbs = 5;
  EXPECT_THAT(told_of(machine, "gdr.peermem_missing"), AllOf(HasSubstr("error"), HasSubstr("modprobe nvidia-peermem")));
  EXPECT_THAT(told_of(machine, "net.mixed_speed"),
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
  EXPECT_THAT(told_of(machine, "gdr.peermem_missing"), HasSubstr("error"));
  EXPECT_THAT(told_of(machine, "pcie.acs_redirect"), HasSubstr("error"));
  EXPECT_THAT(told_of(machine, "net.port_down"),
              AllOf(HasSubstr("info net.port_down nic1"), HasSubstr("DOWN, Disabled")));
}

TEST(Report19, peermem_on_one_node_only) {
  Machine machine("hosts:2 gpu:2 nic:2 hdr", 2);
  for (int host : {0, 1}) {
    machine.modules({"nvidia", "mlx5_core"}, host);
    machine.host(host).kernel.version = "5.15.0";
  }
  machine.modules({"nvidia", "mlx5_core", "nvidia_peermem"}, 0);
  EXPECT_THAT(
      told_of(machine, "gdr.peermem_missing"),
      AllOf(HasSubstr("error gdr.peermem_missing host1: nvidia_peermem"), HasSubstr("; host0 can do GPUDirect RDMA")));
}

TEST(Report21, peermem_built_against_another_core) {
  Machine machine = without_peermem("packages:2 gpu:8 nic:8 hdr");
  machine.modules({"nvidia", "nvidia_peermem"});
  machine.host().kernel.peer_memory_clients.emplace();
  EXPECT_THAT(told_of(machine, "gdr.peermem_unregistered"), AllOf(HasSubstr("error"), HasSubstr("built against")));
}

TEST(Report22, cube_mesh_with_both_nics_on_one_socket) {
  Machine machine = without_peermem("packages:2 gpu:8 gpus_per_switch:2 nic:2 edr pcie:3");
  machine.move("nic1", "switch1");
  EXPECT_THAT(told_of(machine, "gdr.peermem_missing"), HasSubstr("error"));
  EXPECT_THAT(told_of(machine, "topo.socket_without_nic"),
              HasSubstr("warning topo.socket_without_nic package1: gpu4, gpu5, gpu6, gpu7 are on it"));
}

TEST(Report58, gpu_direct_is_off_on_efa) {
  Machine machine("packages:2 gpu:8 gpus_per_switch:2 nic:4 efa100");
  for (int i = 0; i < 4; ++i) machine.node("nic" + std::to_string(i)).device = "1d0f:efa1";
  machine.set("FI_EFA_USE_DEVICE_RDMA", "0");
  EXPECT_THAT(told_of(machine, "efa.gdr_unavailable"),
              AllOf(HasSubstr("error"), HasSubstr("FI_EFA_USE_DEVICE_RDMA=1")));
  EXPECT_THAT(told_of(machine, "env.no_net_pin"), HasSubstr("NCCL_NET=\"AWS Libfabric\""));
}

}  // namespace
}  // namespace weft::topology::audit
