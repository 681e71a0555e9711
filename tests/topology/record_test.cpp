// A record is read back like the machine it was made of, and an anonymous one names nobody.
#include "topology/record/record.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/record/anonymise.hpp"
#include "topology/record/collector.hpp"
#include "topology/record/unpack.hpp"
#include "topology/survey.hpp"

namespace weft::topology {
namespace {

using test::RecordedTree;
using testing::HasSubstr;
using testing::Not;

// A GPU and a NIC below a switch, with all that names them.
class Records : public testing::Test {
 protected:
  void SetUp() override {
    tree_.add_cpus(1, 4);
    RecordedTree::Pci port{"0000:10:01.0", {}, "0x060400", "0x8086", "0x352a", "0-3", 0x11, 0x13, {}};
    RecordedTree::Pci gpu{"0000:11:00.0", {"0000:10:01.0"}, "0x030200", "0x10de", "0x2330", "0-3", -1, -1, {}};
    gpu.attributes = {{"current_link_speed", "32.0 GT/s PCIe"}, {"current_link_width", "16"}, {"numa_node", "0"}};
    RecordedTree::Pci nic{"0000:20:00.0", {}, "0x020700", "0x15b3", "0x1021", "0-3", -1, -1, {}};
    for (const RecordedTree::Pci& pci : {port, gpu, nic}) tree_.add_pci(pci);
    tree_.add_net("ib0", nic, "up", "400000");
    tree_.add_verbs("mlx5_0", nic, "4: ACTIVE", "400 Gb/sec (4X NDR)");
    tree_.write("/sys/class/infiniband/mlx5_0/node_guid", "0c42:a103:0056:f8a4\n");
    tree_.write("/sys/class/infiniband/mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:0c42:a103:0056:f8a4\n");
    tree_.write("/sys/class/infiniband/mlx5_0/ports/1/gids/1", "0000:0000:0000:0000:0000:ffff:c0a8:0105\n");
    tree_.write("/proc/sys/kernel/hostname", "secret17\n");
    tree_.write("/proc/cmdline",
                "root=UUID=0a1b2c3d-1111-2222-3333-444455556666 ip=192.168.1.5 name=secret17 iommu=pt\n");
    tree_.write("/proc/driver/nvidia/gpus/0000:11:00.0/information",
                "Model: NVIDIA H100\nGPU UUID: \t GPU-8a56a4bc-e184-a047-2620-be19fdf913d5\n");
    tree_.write("/proc/self/environ",
                std::string("NCCL_DEBUG=INFO\0NCCL_SOCKET_IFNAME=ib0\0NCCL_TOPO_FILE=/data/alice/t.xml\0"
                            "UCX_NET=192.168.1.5\0PASSWORD=hunter2\0",
                            106));
    tree_.write("/proc/net/fib_trie", "Main:\n  +-- 0.0.0.0/0\n     |-- 192.168.1.5\n        /32 host LOCAL\n");
    tree_.write("/proc/net/route",
                "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
                "ib0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
  }

  std::string record(bool anonymise) {
    const std::string path = scratch_.root() + "/record.tar.bz2";
    const Status status = write_record(path, {tree_.root(), anonymise});
    EXPECT_TRUE(status.ok()) << status.to_string();
    return path;
  }
  // All that the record holds, as one text.
  static std::string content_of(const std::string& path) {
    const Result<UnpackedArchive> unpacked = UnpackedArchive::unpack(path);
    EXPECT_TRUE(unpacked) << unpacked.status().to_string();
    std::string all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(unpacked->folder())) {
      if (!entry.is_regular_file() || entry.is_symlink()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      all.append(entry.path()).append("\n").append(std::istreambuf_iterator<char>(in), {});
    }
    return all;
  }

  RecordedTree tree_;
  RecordedTree scratch_;
};

TEST_F(Records, a_record_tells_what_the_machine_tells) {
  const Result<Survey> live = survey({tree_.root()});
  ASSERT_TRUE(live) << live.status().to_string();
  const Result<Survey> recorded = load_survey(record(false));
  ASSERT_TRUE(recorded) << recorded.status().to_string();
  EXPECT_EQ(recorded->graph, live->graph);
  EXPECT_EQ(recorded->remarks, live->remarks);
  Survey wanted = *live;
  // The recorder leaves out what is nobody's business.
  std::erase_if(*wanted.hosts[0].environment, [](const Variable& variable) { return variable.name == "PASSWORD"; });
  EXPECT_EQ(recorded->hosts, wanted.hosts);
}

TEST_F(Records, a_record_holds_no_other_environment_and_no_foreign_mounts) {
  tree_.write("/proc/self/mountinfo",
              "25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw,size=65536k\n26 24 0:24 / /home rw - nfs server1:/home rw\n");
  const std::string content = content_of(record(false));
  EXPECT_THAT(content, HasSubstr("NCCL_DEBUG=INFO"));
  EXPECT_THAT(content, HasSubstr("size=65536k"));
  EXPECT_THAT(content, Not(HasSubstr("hunter2")));
  EXPECT_THAT(content, Not(HasSubstr("server1")));
}

TEST_F(Records, an_anonymous_record_names_nobody) {
  const std::string path = record(true);
  const std::string content = content_of(path);
  for (const char* secret : {"secret17", "0c42:a103", "8a56a4bc", "0a1b2c3d", "192.168.1.5", "c0a8:0105",
                             "02:00:00:00:00:01", "alice", "UCX_NET", "0001A8C0"})
    EXPECT_THAT(content, Not(HasSubstr(secret))) << secret;
  for (const char* kept : {"iommu=pt", "NCCL_DEBUG=INFO", "NCCL_SOCKET_IFNAME=ib0", "NVIDIA H100", "4: ACTIVE"})
    EXPECT_THAT(content, HasSubstr(kept));
  const Result<Survey> survey = load_survey(path);
  ASSERT_TRUE(survey) << survey.status().to_string();
  EXPECT_EQ(survey->graph.name, "host");
  EXPECT_EQ(fingerprint(survey->graph), fingerprint(*probe({tree_.root()})));
  // Equal things stay equal, addresses stay in their networks.
  const DeviceFacts* nic = survey->facts(0).device("mlx5_0");
  ASSERT_NE(nic, nullptr);
  ASSERT_EQ(nic->ports.at(0).gids.size(), 2u);
  EXPECT_THAT(nic->ports[0].gids[0].address, testing::EndsWith(*nic->guid));
  EXPECT_THAT(nic->ports[0].gids[0].address, testing::StartsWith("fe80:"));
  ASSERT_NE(survey->facts(0).interface("ib0"), nullptr);
  EXPECT_EQ(survey->facts(0).interface("ib0")->addresses.size(), 1u);
}

TEST_F(Records, a_file_that_cannot_be_written_is_told_before_anything_is_read) {
  EXPECT_FALSE(write_record("/nonexistent/x.tar.bz2", {tree_.root(), false}).ok());
  EXPECT_EQ(write_record(scratch_.root() + "/x.tar.bz2", {scratch_.root(), false}).code(), Code::NotFound);
}

TEST_F(Records, a_record_is_refused_where_it_would_not_hold_all) {
  for (const char* table : {"cpuinfo", "net/fib_trie", "net/ipv6_route"})
    tree_.write(fmt::format("/proc/{}", table), std::string(std::size_t{4} << 20, 'x'));
  for (int i = 0; i < 1000; ++i)
    tree_.write(fmt::format("/sys/class/dmi/id/bios_{}", i), std::string(std::size_t{16} << 10, 'x'));
  const Status status = write_record(scratch_.root() + "/x.tar.bz2", {tree_.root(), false});
  EXPECT_EQ(status.code(), Code::ResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("24 MiB"));
}

TEST_F(Records, of_what_is_only_looked_for_no_content_is_kept) {
  tree_.write("/usr/lib/libnccl-net.so", "content of a library");
  const std::string path = record(false);
  EXPECT_THAT(content_of(path), Not(HasSubstr("content of a library")));
  const Result<Survey> live = survey({tree_.root()});
  const Result<Survey> recorded = load_survey(path);
  ASSERT_TRUE(live);
  ASSERT_TRUE(recorded);
  EXPECT_EQ(recorded->facts(0).network_plugins, std::vector<std::string>{"libnccl-net.so"});
  EXPECT_EQ(recorded->facts(0).network_plugins, live->facts(0).network_plugins);
  EXPECT_THAT(content_of(path), HasSubstr("libnccl-net.so"));
}

TEST_F(Records, a_dev_with_rdma_devices_is_a_whole_one) {
  tree_.write("/dev/infiniband/uverbs0", "");
  tree_.write("/dev/null", "");
  EXPECT_THAT(content_of(record(false)), HasSubstr("dev/null"));
}

TEST_F(Records, what_is_behind_a_link_that_climbs_is_found) {
  tree_.write("/run/state/x", "behind");
  tree_.write("/a/c", "beside");
  tree_.link("/var/run", "../run");
  tree_.link("/a/b", "../a/../run/./state");
  Collector collector(tree_.root());
  collector.add("var/run/state/x", 100);
  collector.add("a/b/../../a/c", 100);
  EXPECT_EQ(collector.entries()["run/state/x"].content, "behind");
  EXPECT_EQ(collector.entries()["var/run"].content, "../run");
  EXPECT_EQ(collector.entries()["a/c"].content, "beside");
}

TEST(Record, this_machine_is_recorded_in_2_s_and_read_back_equal) {
  const weft::test::TemporaryFolder folder;
  const std::string path = folder.path() + "/here.tar.bz2";
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(write_record(path).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_LT(std::filesystem::file_size(path), std::size_t{4} << 20);
  const Result<Survey> recorded = load_survey(path);
  ASSERT_TRUE(recorded) << recorded.status().to_string();
  EXPECT_EQ(recorded->graph, *probe());
}

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

}  // namespace
}  // namespace weft::topology
