// Public reports of addresses, interfaces, MTUs and the devices of EFA; see told_of().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/audit_cases.hpp"
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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
  EXPECT_THAT(told_of(machine, "roce.gid_index"),
              AllOf(HasSubstr("error"), HasSubstr("link-local, RoCE v2"), HasSubstr("| NCCL_IB_GID_INDEX=3")));
}

TEST(Report26, addresses_of_ipv6_only) {
  Machine machine = roce();
  machine.port("nic0").gids.resize(2);
  EXPECT_THAT(told_of(machine, "roce.no_ipv4_gid"), AllOf(HasSubstr("warning"), HasSubstr("an IPv4 address")));
}

TEST(Report28, mtu_of_two_nodes_differs) {
  Machine machine("hosts:2 gpu:1 nic:1 hdr", 2);
  for (int host : {0, 1}) {
    machine.port("nic0", host).active_mtu = host == 0 ? 1024 : 4096;
    machine.port("nic0", host).rate_gbs = 25;
    machine.port("nic0", host).gids = {{3, "0000:0000:0000:0000:0000:ffff:0a00:0004", "RoCE v2", "eth1"}};
    machine.interface("eth1", "physical", host == 0 ? "10.0.0.4" : "10.0.0.5", host).mtu = host == 0 ? 1500 : 9000;
  }
  EXPECT_THAT(told_of(machine, "roce.mtu"),
              AllOf(HasSubstr("error roce.mtu host0/nic0: active_mtu 1024 (eth1 has 1500), "
                              "other ports 4096"),
                    HasSubstr("MTU 9000")));
}

TEST(Report30, veth_as_bootstrap_interface) {
  Machine machine("packages:2 gpu:8");
  machine.interface("lo", "loopback", "127.0.0.1");
  machine.interface("veth0123", "veth", "10.42.0.1");
  machine.interface("eth0", "physical", "10.0.0.4").default_route = true;
  machine.set("");
  EXPECT_THAT(told_of(machine, "net.bootstrap_iface"),
              AllOf(HasSubstr("error net.bootstrap_iface veth0123"), HasSubstr("| export NCCL_SOCKET_IFNAME==eth0")));
}

TEST(Report32, every_bridge_is_used) {
  Machine machine("packages:2 gpu:8");
  machine.interface("eth0", "physical", "10.0.0.4").default_route = true;
  machine.interface("br-0123", "bridge", "172.18.0.1");
  machine.interface("veth0123", "veth", "172.18.0.2");
  machine.interface("cali0123", "veth", "10.42.0.1");
  machine.set("");
  EXPECT_THAT(told_of(machine, "net.socket_ifaces"),
              AllOf(HasSubstr("warning"), HasSubstr("3 virtual interfaces"), HasSubstr("NCCL_SOCKET_IFNAME==eth0")));
}

TEST(Report33, pod_identity_after_efa_failed) {
  Machine machine("packages:2 gpu:8 gpus_per_switch:2 nic:4 efa100");
  machine.host().container.kind = "kubernetes";
  machine.host().container.infiniband_devices.emplace();
  machine.interface("eth0", "veth", "10.0.0.4").default_route = true;
  machine.interface("pod-id-link0", "veth", "169.254.170.23");
  machine.set("");
  EXPECT_THAT(told_of(machine, "efa.no_devices"), AllOf(HasSubstr("error"), HasSubstr("vpc.amazonaws.com/efa")));
  EXPECT_THAT(told_of(machine, "net.linklocal_iface"),
              AllOf(HasSubstr("error net.linklocal_iface pod-id-link0"), HasSubstr("NCCL_SOCKET_IFNAME==eth0")));
}

TEST(Report57, container_without_efa_and_network) {
  Machine machine("packages:2 gpu:8 gpus_per_switch:2 nic:4 efa100");
  machine.host().container.kind = "docker";
  machine.host().container.infiniband_devices.emplace();
  machine.interface("lo", "loopback", "127.0.0.1");
  machine.set("NCCL_SOCKET_IFNAME", "^docker0");
  EXPECT_THAT(told_of(machine, "efa.no_devices"),
              AllOf(HasSubstr("error"), HasSubstr("--device=/dev/infiniband/uverbs0")));
  EXPECT_THAT(told_of(machine, "net.bootstrap_iface"),
              AllOf(HasSubstr("error net.bootstrap_iface lo"), HasSubstr("give the container the host's network")));
}

}  // namespace
}  // namespace weft::topology::audit
