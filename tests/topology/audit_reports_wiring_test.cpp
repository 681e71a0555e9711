// Public reports of where NICs are: sockets, order, names, rails, ports of one card; see told_of().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/audit_cases.hpp"
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Report12, nics_in_reverse_order_and_cross_nic) {
  Machine machine("packages:2 gpu:8 gpus_per_switch:1 nic:8 ndr");
  for (int i = 0; i < 8; ++i) {
    machine.move("nic" + std::to_string(i), "switch" + std::to_string(7 - i));
    machine.node("nic" + std::to_string(i)).bus_id = "0000:1" + std::to_string(i / 2) + ":00." + std::to_string(i % 2);
  }
  machine.set("NCCL_CROSS_NIC", "2");
  EXPECT_THAT(told_of(machine, "topo.nic_order_reversed"), HasSubstr("gpu0 pairs with nic7"));
  EXPECT_THAT(told_of(machine, "env.cross_nic"), AllOf(HasSubstr("is 2"), HasSubstr("NCCL_CROSS_NIC=0")));
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
  EXPECT_THAT(told_of(machine, "fabric.rail_only"), AllOf(HasSubstr("warning"), HasSubstr("NCCL_CROSS_NIC=0")));
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
  EXPECT_THAT(told_of(machine, "net.shared_port"),
              AllOf(HasSubstr("warning net.shared_port nic0, nic2"), HasSubstr("count the card once")));
  EXPECT_THAT(told_of(machine, "net.rate_below_cap"), AllOf(HasSubstr("warning"), HasSubstr("100 of 200 Gbit/s")));
}

TEST(Report53, nic_names_differ_between_nodes) {
  Machine machine("hosts:3 gpu:2 nic:2 hdr", 3);
  for (int host = 0; host < 3; ++host)
    for (int nic : {0, 1})
      machine.node("host" + std::to_string(host) + "/nic" + std::to_string(nic)).bus_id =
          (nic == 0) != (host == 2) ? "0000:10:00.0" : "0000:20:00.0";
  EXPECT_THAT(told_of(machine, "net.names_differ"),
              AllOf(HasSubstr("host2: nic0: is 0000:20:00.0, on 2 other hosts 0000:10:00.0"), HasSubstr("slots")));
}

TEST(Report54, all_nics_on_socket_0) {
  Machine machine("packages:2 gpu:4 gpus_per_switch:2 nic:4 hdr");
  for (const char* nic : {"nic2", "nic3"}) machine.move(nic, "switch0");
  EXPECT_THAT(told_of(machine, "topo.socket_without_nic"),
              AllOf(HasSubstr("warning topo.socket_without_nic package1: gpu2, gpu3 are on it"),
                    HasSubstr("| move nic2, nic3 to slots of that socket")));
}

TEST(Report55, two_nics_four_numa_nodes) {
  Machine machine("packages:1 numa:4 gpu:4 gpus_per_switch:1 nic:2 hdr");
  machine.move("nic0", "switch1");
  machine.move("nic1", "switch2");
  EXPECT_THAT(told_of(machine, "topo.gpu_without_near_nic"),
              AllOf(HasSubstr("warning topo.gpu_without_near_nic gpu0, gpu3"),
                    HasSubstr("move a NIC to the GPU's NUMA node, or try NCCL_NET_GDR_LEVEL=SYS")));
}

}  // namespace
}  // namespace weft::topology::audit
