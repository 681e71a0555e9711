// A record is read back like the machine it was made of, and an anonymous one names nobody.
#include "topology/record/record.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/read_file.hpp"
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
      all.append(entry.path()).append("\n");
      if (!entry.is_regular_file() || entry.is_symlink()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      all.append(std::istreambuf_iterator<char>(in), {});
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

// Names of interfaces are names of folders and links, too, and stay equal wherever they stand.
TEST_F(Records, an_anonymous_record_renames_interfaces_that_name_an_address_or_the_host) {
  RecordedTree::Pci nic{"0000:30:00.0", {}, "0x020000", "0x15b3", "0x1021", "0-3", -1, -1, {}};
  RecordedTree::Pci other{"0000:31:00.0", {}, "0x020000", "0x15b3", "0x1021", "0-3", -1, -1, {}};
  tree_.add_pci(nic);
  tree_.add_pci(other);
  tree_.add_net("enx0c42a1030056", nic, "up", "100000");
  tree_.add_net("secret17-ib0", other, "up", "100000");
  tree_.write("/proc/net/route",
              "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
              "enx0c42a1030056\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n");
  tree_.write("/proc/net/if_inet6",
              "fe800000000000000e42a1fffe030056 02 40 20 80 secret17-ib0\n"
              "20010db8000000010000000000000017 03 40 00 80 enx0c42a1030056\n");
  const std::string path = record(true);
  const std::string content = content_of(path);
  for (const char* secret : {"0c42a1030056", "secret17", "20010db8", "0e42a1fffe030056"})
    EXPECT_THAT(content, Not(HasSubstr(secret))) << secret;
  const Result<Survey> survey = load_survey(path);
  ASSERT_TRUE(survey) << survey.status().to_string();
  EXPECT_EQ(fingerprint(survey->graph), fingerprint(*probe({tree_.root()})));
  const InterfaceFacts* renamed = survey->facts(0).interface("host-ib0");
  ASSERT_NE(renamed, nullptr);
  EXPECT_THAT(renamed->addresses, testing::Contains(testing::StartsWith("fe80::")));
  const auto routed = std::find_if(survey->hosts[0].interfaces.begin(), survey->hosts[0].interfaces.end(),
                                   [](const InterfaceFacts& interface) { return interface.default_route == true; });
  ASSERT_NE(routed, survey->hosts[0].interfaces.end());
  EXPECT_THAT(routed->name, testing::StartsWith("enx0000000000"));
  EXPECT_EQ(routed->bus_id, "0000:30:00.0");
}

TEST_F(Records, a_file_that_cannot_be_written_is_told_before_anything_is_read) {
  EXPECT_FALSE(write_record("/nonexistent/x.tar.bz2", {tree_.root(), false}).ok());
  EXPECT_EQ(write_record(scratch_.root() + "/x.tar.bz2", {scratch_.root(), false}).code(), Code::NotFound);
}

TEST_F(Records, the_ending_of_the_name_says_how_it_is_compressed) {
  const std::string_view xz(
      "\xfd"
      "7zXZ\0",
      6);
  const std::pair<std::string, std::string_view> endings[] = {
      {".tar.bz2", "BZh"}, {".tbz2", "BZh"}, {".tar.gz", "\x1f\x8b"},  {".tgz", "\x1f\x8b"},
      {".tar.xz", xz},     {".txz", xz},     {".tar", "weft-record/"},
  };
  const Result<Survey> live = survey({tree_.root()});
  ASSERT_TRUE(live);
  for (const auto& [ending, start] : endings) {
    const std::string path = scratch_.root() + "/x" + ending;
    const Status status = write_record(path, {tree_.root(), false});
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_THAT(read_head(path, 512), testing::StartsWith(std::string(start))) << ending;
    const Result<Survey> recorded = load_survey(path);
    ASSERT_TRUE(recorded) << recorded.status().to_string();
    EXPECT_EQ(recorded->graph, live->graph) << ending;
  }
}

TEST_F(Records, an_ending_that_is_not_written_is_refused_before_anything_is_read) {
  for (const std::string name : {"x", "x.zip", "x.tar.zst", "x.gz", "x.bz2", "tar.gz.old", "x.TAR.GZ"}) {
    const Status status = write_record(scratch_.root() + "/" + name, {"/nowhere", false});
    EXPECT_EQ(status.code(), Code::InvalidArgument) << name;
    EXPECT_THAT(status.message(), HasSubstr(name + "\": its ending says no compression"));
    EXPECT_THAT(status.message(), HasSubstr("ends in .tar.bz2, .tar.gz, .tar.xz or .tar"));
  }
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

}  // namespace
}  // namespace weft::topology
