// What names a machine, its network or its owner is replaced; equal things stay equal, the rest stays as it is.
#include "topology/record/anonymise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/record/collector.hpp"

namespace weft::topology {
namespace {

TEST(Anonymiser, equal_words_become_equal_words_of_the_same_form) {
  Anonymiser anonymiser("node17");
  const std::string once = anonymiser.text("at 0C:42:a1:03:00:56 or GPU-8a56a4bc-e184-a047-2620-be19fdf913d5, node17.");
  EXPECT_EQ(once, "at 00:00:00:00:00:01 or GPU-00000000-0000-0000-0000-000000000002, host.");
  EXPECT_EQ(anonymiser.text("0c:42:a1:03:00:56"), "00:00:00:00:00:01");
  EXPECT_EQ(anonymiser.text("node17.cluster.example"), "host");
  for (const char* kept :
       {"0000:c1:00.0", "00:00:00:00:00:00", "127.0.0.1", "0.0.0.0/0", "255.255.255.0", "12:34:56", "16.0 GT/s PCIe",
        "6.1.0-13-amd64", "0-3,8", "node170", "fe80:0000:0000:0000:0000:0000:0000:0000"})
    EXPECT_EQ(anonymiser.text(kept), kept);
  const std::string address = anonymiser.text("172.16.3.4");
  EXPECT_THAT(address, testing::StartsWith("10."));
  EXPECT_EQ(anonymiser.text("http://172.16.3.4:80/x"), "http://" + address + ":80/x");
}

TEST(Anonymiser, what_the_boot_line_says_of_the_network_is_replaced_part_by_part) {
  Anonymiser anonymiser("node17.cluster.example");
  const std::string mac = anonymiser.text("aa:bb:cc:dd:ee:ff");
  EXPECT_EQ(anonymiser.text("BOOTIF=01-aa-bb-cc-dd-ee-ff"), "BOOTIF=01-00-00-00-00-00-01");
  EXPECT_EQ(mac, "00:00:00:00:00:01");
  const std::string own = anonymiser.text("10.1.2.3");
  const std::string gateway = anonymiser.text("10.1.2.1");
  EXPECT_NE(own, "10.1.2.3");
  EXPECT_EQ(anonymiser.text("ip=10.1.2.3::10.1.2.1:255.255.255.0:node17:eth0"),
            "ip=" + own + "::" + gateway + ":255.255.255.0:host:eth0");
  EXPECT_EQ(anonymiser.text("node17 node17.cluster.example node17.other node170"), "host host host node170");
  EXPECT_EQ(anonymiser.text("0000:c1:00.0 pci:0000:c1:00.1 01-02-03"), "0000:c1:00.0 pci:0000:c1:00.1 01-02-03");
}

TEST(Anonymiser, a_host_whose_name_is_its_address_has_no_short_name) {
  EXPECT_EQ(Anonymiser("192.168.1.5").text("0-3,192 GT/s"), "0-3,192 GT/s");
}

TEST(Anonymiser, serial_numbers_keep_no_letter) {
  RecordEntries entries;
  entries["sys/class/dmi/id/product_serial"] = {RecordEntry::Kind::File, "SGH-4XKZ7\n"};
  entries["sys/class/x/serial"] = {RecordEntry::Kind::File, "SGH-4XKZ7\n"};
  entries["sys/class/y/serial"] = {RecordEntry::Kind::File, "SGH-4XKW7\n"};
  Anonymiser("").entries(entries);
  EXPECT_EQ(entries["sys/class/dmi/id/product_serial"].content, "000-00001\n");
  EXPECT_EQ(entries["sys/class/x/serial"].content, "000-00001\n");
  EXPECT_EQ(entries["sys/class/y/serial"].content, "000-00002\n");
}

TEST(Anonymiser, addresses_in_the_names_of_interfaces_are_those_of_the_interfaces) {
  Anonymiser anonymiser("");
  EXPECT_EQ(anonymiser.text("00:11:22:33:44:55"), "00:00:00:00:00:01");
  EXPECT_EQ(anonymiser.text("NCCL_SOCKET_IFNAME==enx001122334455,wlxAABBCCDDEEFF"),
            "NCCL_SOCKET_IFNAME==enx000000000001,wlx000000000002");
  EXPECT_EQ(anonymiser.text("enx001122334455.100 br-1a2b3c4d5e6f"), "enx000000000001.100 br-000000000003");
  for (const char* kept : {"enx0011", "enx00112233445566", "137438953472", "0x001122334455", "enp193s0f0np0"})
    EXPECT_EQ(anonymiser.text(kept), kept);
}

TEST(Anonymiser, ipv6_addresses_of_any_form) {
  Anonymiser anonymiser("");
  EXPECT_EQ(anonymiser.text("fe80::c42:a1ff:fe03:56"), "fe80::1");
  EXPECT_EQ(anonymiser.text("inet6 fe80::1/64"), "inet6 fe80::2/64");
  EXPECT_EQ(anonymiser.text("fe80:0000:0000:0000:0c42:a1ff:fe03:0056"), "fe80:0000:0000:0000:0000:0000:0000:0001");
  const std::string address = anonymiser.text("2001:db8:1:2::17");
  EXPECT_THAT(address, testing::Not(testing::HasSubstr("db8")));
  EXPECT_EQ(anonymiser.text("[2001:DB8:1:2:0:0:0:17]:443"), "[" + address + "]:443");
  EXPECT_THAT(anonymiser.text("2001:db8:1:2::/64 via"), testing::Not(testing::HasSubstr("db8")));
  EXPECT_THAT(anonymiser.text("ff02::1:ff03:56"), testing::Not(testing::HasSubstr("ff03")));
  EXPECT_THAT(anonymiser.text("::ffff:192.168.1.5"), testing::StartsWith("::ffff:10."));
  for (const char* kept : {"::1", "::", "::1/128", "a::1:eth0", "12:34:56", "0000:0000:0000:0000:0000:0000:0000:0001"})
    EXPECT_EQ(anonymiser.text(kept), kept);
}

TEST(Anonymiser, the_host_is_found_inside_words) {
  Anonymiser anonymiser("Node17.cluster.example");
  EXPECT_EQ(anonymiser.text("node17-ib0 bond-node17 ib0.node17 node17_mlx5_0 NODE17 mgmt-node17-a"),
            "host-ib0 bond-host ib0.host host_mlx5_0 host mgmt-host-a");
  EXPECT_EQ(anonymiser.text("node17-ib0.cluster.example node17-ib0.100"), "host-ib0 host-ib0.100");
  for (const char* kept : {"node170-ib0", "anode17", "node1-7", "node-17"}) EXPECT_EQ(anonymiser.text(kept), kept);
}

TEST(Anonymiser, a_short_host_name_changes_no_bus_id) {
  EXPECT_EQ(Anonymiser("c1").text("0000:c1:00.0 pci:0000:c1:00.1 c1"), "0000:c1:00.0 pci:0000:c1:00.1 host");
}

TEST(Anonymiser, folders_and_links_are_renamed_as_texts_are) {
  RecordEntries entries;
  entries["sys/class/net/enx001122334455"] = {RecordEntry::Kind::Link,
                                              "../../devices/pci0000:00/0000:00:1f.6/net/enx001122334455"};
  entries["sys/class/net/node0-bond/lower_enx001122334455"] = {RecordEntry::Kind::Link, "../enx001122334455"};
  entries["sys/devices/system/node/node0/cpulist"] = {RecordEntry::Kind::File, "0-3\n"};
  entries["sys/bus/node/devices/node0"] = {RecordEntry::Kind::Folder, ""};
  Anonymiser("node0").entries(entries);
  std::vector<std::string> paths;
  for (const auto& [path, entry] : entries) paths.push_back(path);
  EXPECT_THAT(paths, testing::ElementsAre("sys/bus/node/devices/node0", "sys/class/net/enx000000000001",
                                          "sys/class/net/host-bond/lower_enx000000000001",
                                          "sys/devices/system/node/node0/cpulist"));
  EXPECT_EQ(entries["sys/class/net/enx000000000001"].content,
            "../../devices/pci0000:00/0000:00:1f.6/net/enx000000000001");
}

}  // namespace
}  // namespace weft::topology
