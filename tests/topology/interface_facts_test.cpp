// Facts of network interfaces from recorded trees: kinds, addresses, the way out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/facts/addresses.hpp"
#include "topology/facts/read_facts.hpp"

namespace weft::topology {
namespace {

using test::RecordedTree;
using testing::ElementsAre;
using testing::IsEmpty;

class Interfaces : public testing::Test {
 protected:
  HostFacts facts() {
    Survey survey;
    EXPECT_TRUE(read_facts(tree_.root(), survey).ok());
    return survey.hosts.at(0);
  }
  InterfaceFacts of(std::string_view name) {
    const HostFacts host = facts();
    const InterfaceFacts* found = host.interface(name);
    EXPECT_NE(found, nullptr) << name;
    return found != nullptr ? *found : InterfaceFacts();
  }
  // A virtual interface: number and other end as sysfs has them.
  void add(const std::string& name, const std::string& type, int number, int other, const std::string& event = "") {
    const std::string folder = "/sys/class/net/" + name + "/";
    tree_.write(folder + "type", type + "\n");
    tree_.write(folder + "ifindex", std::to_string(number) + "\n");
    tree_.write(folder + "iflink", std::to_string(other) + "\n");
    tree_.write(folder + "uevent", event + "INTERFACE=" + name + "\n");
  }
  RecordedTree tree_;
};

TEST_F(Interfaces, a_physical_one_is_read_with_its_device) {
  const RecordedTree::Pci nic = {"0000:41:00.0", {}, "0x020000", "0x15b3", "0x101d", "0-1", -1, -1, {}};
  tree_.add_pci(nic);
  tree_.add_net("ens1", nic, "up", "100000");
  tree_.write("/sys/class/net/ens1/mtu", "9000\n");
  tree_.write("/sys/class/net/ens1/type", "1\n");
  tree_.link("/sys/class/net/ens1/master", "../../../../virtual/net/bond0");
  const InterfaceFacts ens1 = of("ens1");
  EXPECT_EQ(ens1.kind, "physical");
  EXPECT_EQ(ens1.state, "up");
  EXPECT_EQ(ens1.speed_gbs, 12.5);
  EXPECT_EQ(ens1.mtu, 9000);
  EXPECT_EQ(ens1.mac, "02:00:00:00:00:01");
  EXPECT_EQ(ens1.bus_id, "0000:41:00.0");
  EXPECT_EQ(ens1.master, "bond0");
  EXPECT_EQ(ens1.default_route, std::nullopt);
  EXPECT_EQ(facts().device("0000:41:00.0")->mac, "02:00:00:00:00:01");
}

TEST_F(Interfaces, kinds_are_told_apart) {
  add("lo", "772", 1, 1);
  add("veth12ab", "1", 7, 3);
  add("bond0", "1", 4, 4, "DEVTYPE=bond\n");
  add("docker0", "1", 5, 5, "DEVTYPE=bridge\n");
  add("eth0.100", "1", 6, 2, "DEVTYPE=vlan\n");
  add("vxlan.calico", "1", 8, 8, "DEVTYPE=vxlan\n");
  add("dummy0", "1", 9, 9);
  add("ib0.8001", "32", 10, 3);
  add("tun0", "65534", 11, 11);
  tree_.write("/sys/class/net/tun0/tun_flags", "0x1002\n");
  tree_.write("/sys/class/net/bonding_masters", "bond0\n");
  EXPECT_EQ(of("lo").kind, "loopback");
  EXPECT_EQ(of("veth12ab").kind, "veth");
  EXPECT_EQ(of("bond0").kind, "bond");
  EXPECT_EQ(of("docker0").kind, "bridge");
  EXPECT_EQ(of("eth0.100").kind, "vlan");
  EXPECT_EQ(of("vxlan.calico").kind, "virtual");
  EXPECT_EQ(of("dummy0").kind, "virtual");
  EXPECT_EQ(of("ib0.8001").kind, "virtual");
  EXPECT_EQ(of("tun0").kind, "tun");
  EXPECT_EQ(facts().interface("bonding_masters"), nullptr);
}

constexpr const char* kTrie =
    "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n"
    "     +-- 10.0.0.0/24 2 0 2\n        |-- 10.0.0.0\n           /24 link UNICAST\n"
    "        |-- 10.0.0.4\n           /32 host LOCAL\n        |-- 10.0.0.255\n           /32 link BROADCAST\n"
    "     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 10.0.0.4\n        /32 host LOCAL\n";
constexpr const char* kRoutes =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    "eth0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
    "docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n";

TEST_F(Interfaces, addresses_and_the_way_out_come_from_the_kernels_tables) {
  add("lo", "772", 1, 1);
  add("eth0", "1", 2, 2);
  add("docker0", "1", 3, 3, "DEVTYPE=bridge\n");
  tree_.write("/proc/net/fib_trie", kTrie);
  tree_.write("/proc/net/route", kRoutes);
  tree_.write("/proc/net/if_inet6", "fe800000000000000000000000000001 02 40 20 80     eth0\n");
  EXPECT_THAT(of("eth0").addresses, ElementsAre("10.0.0.4", "fe80::1"));
  EXPECT_THAT(of("lo").addresses, ElementsAre("127.0.0.1"));
  EXPECT_THAT(of("docker0").addresses, IsEmpty());
  EXPECT_EQ(of("eth0").default_route, true);
  EXPECT_EQ(of("docker0").default_route, false);
}

TEST_F(Interfaces, a_way_out_by_ipv6_alone_counts) {
  add("eth0", "1", 2, 2);
  tree_.write("/proc/net/route", "Iface\tDestination\tGateway\tFlags\n");
  tree_.write("/proc/net/ipv6_route",
              "00000000000000000000000000000000 00 00000000000000000000000000000000 00 "
              "fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n");
  EXPECT_EQ(of("eth0").default_route, true);
}

TEST(Addresses, of_several_subnets_the_narrowest_has_it) {
  NetworkTables tables;
  tables.local = {0x0a000104};
  tables.subnets = {{"wide", 0x0a000000, 0xff000000}, {"narrow", 0x0a000100, 0xffffff00}};
  EXPECT_THAT(recorded_addresses(tables), ElementsAre(InterfaceAddress{"narrow", "10.0.1.4"}));
}

TEST(Addresses, texts_that_make_no_sense_give_nothing) {
  NetworkTables tables;
  parse_routes("eth0 zz 0 0003 0 0 0 00000000\n\n\tx\n", tables);
  EXPECT_THAT(*tables.default_routes, IsEmpty());
  EXPECT_THAT(parse_local_addresses("|-- 10.0.0.999\n/32 host LOCAL\n|-- \n/32 host LOCAL\n/32 host LOCAL"), IsEmpty());
  EXPECT_THAT(parse_ipv6_addresses("fe80 02 40 20 80 eth0\nzz800000000000000000000000000001 02 40 20 80 eth0\n"),
              IsEmpty());
}

}  // namespace
}  // namespace weft::topology
