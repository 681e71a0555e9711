// Trees that nobody recorded honestly: whatever stands where a reader looks, reading ends soon, stays in the tree, and
// what cannot be read is unknown.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/topology/support/recorded_tree.hpp"
#include "topology/facts/read_facts.hpp"
#include "topology/facts/tree.hpp"
#include "topology/read_file.hpp"

namespace weft::topology {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using test::RecordedTree;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kFiles[] = {"/proc/cmdline",
                                  "/proc/cpuinfo",
                                  "/proc/self/limits",
                                  "/proc/self/status",
                                  "/proc/self/environ",
                                  "/proc/self/numa_maps",
                                  "/proc/self/cgroup",
                                  "/proc/self/mountinfo",
                                  "/proc/net/route",
                                  "/proc/net/fib_trie",
                                  "/proc/driver/nvidia/version",
                                  "/proc/sys/kernel/hostname",
                                  "/sys/kernel/mm/transparent_hugepage/enabled",
                                  "/sys/class/dmi/id/sys_vendor"};

class HostileTree : public testing::Test {
 protected:
  // Of a reading that took its time only if something is wrong.
  HostFacts facts() {
    const auto before = steady_clock::now();
    Survey survey;
    EXPECT_TRUE(read_facts(tree_.root(), survey).ok());
    EXPECT_LT(steady_clock::now() - before, seconds(5));
    return survey.hosts.at(0);
  }
  RecordedTree tree_;
};

TEST_F(HostileTree, folders_where_files_should_be_are_unknown) {
  for (const char* file : kFiles) std::filesystem::create_directories(tree_.root() + file);
  EXPECT_EQ(facts(), HostFacts());
}

TEST_F(HostileTree, pipes_where_files_should_be_are_not_waited_for) {
  for (const char* file : kFiles) {
    const std::string path = tree_.root() + file;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  }
  EXPECT_EQ(facts(), HostFacts());
  EXPECT_EQ(read_attribute(tree_.root() + "/proc/cmdline"), std::nullopt);
}

TEST_F(HostileTree, links_in_circles_are_unknown) {
  for (const char* file : kFiles) tree_.link(file, std::filesystem::path(file).filename());
  tree_.link("/sys/class/net", "net");
  tree_.link("/sys/bus/pci/devices", "../pci/devices");
  EXPECT_EQ(facts(), HostFacts());
}

TEST_F(HostileTree, links_out_of_the_tree_do_not_read_this_machine) {
  tree_.link("/proc/sys/kernel/hostname", "/etc/hostname");
  tree_.link("/proc/self/status", "/proc/self/status");
  tree_.link("/proc/cmdline", "../../../../../../../../../../../../proc/cmdline");
  EXPECT_EQ(facts(), HostFacts());
  tree_.write("/etc/hostname", "inside\n");
  EXPECT_EQ(facts().hostname, "inside");
}

TEST_F(HostileTree, huge_files_are_read_in_part_or_not_at_all) {
  for (const char* file : kFiles) {
    tree_.write(file, "x");
    std::filesystem::resize_file(tree_.root() + file, std::uintmax_t{1} << 32);
  }
  const HostFacts host = facts();
  EXPECT_EQ(host.kernel.command_line, std::nullopt);
  EXPECT_EQ(host.hostname, std::nullopt);
  EXPECT_EQ(host.process, ProcessFacts());
}

TEST_F(HostileTree, bytes_of_any_kind_are_survived) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>(i * 37 % 256);
  for (const char* file : kFiles) tree_.write(file, bytes);
  facts();
}

TEST_F(HostileTree, a_tree_is_read_up_to_a_bound) {
  tree_.write("/large", std::string(kMaxTextBytes, 'x'));
  const Tree tree(tree_.root());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < 2 * kMaxTreeBytes / kMaxTextBytes; ++i) bytes += tree.text("large").value_or("").size();
  EXPECT_EQ(bytes, kMaxTreeBytes);
}

TEST_F(HostileTree, thousands_of_interfaces_and_ports_are_bounded) {
  for (const char* name : {"type", "ifindex", "iflink", "mtu", "speed", "operstate", "address", "uevent"})
    tree_.write(fmt::format("/sys/devices/one/{}", name), "1\n");
  std::filesystem::create_directories(tree_.root() + "/sys/class/net");
  for (int i = 0; i < 3000; ++i) tree_.link(fmt::format("/sys/class/net/e{}", i), "../../devices/one");
  EXPECT_EQ(facts().interfaces.size(), 1024u);
}

TEST_F(HostileTree, thousands_of_devices_with_thousands_of_gids_are_bounded) {
  const std::string port = "/sys/devices/pci0000:00/0000:00:01.0/infiniband/one/ports/1/";
  for (int i = 0; i < 300; ++i) tree_.write(fmt::format("{}gids/{}", port, i), "fe80::1\n");
  for (int i = 2; i < 200; ++i) tree_.link(fmt::format("{}../{}", port, i), "1");
  tree_.write("/sys/devices/pci0000:00/0000:00:01.0/class", "0x020000\n");
  for (int i = 0; i < 5000; ++i)
    tree_.link(fmt::format("/sys/bus/pci/devices/0000:{:02x}:{:02x}.{}", i / 256, i / 8 % 32, i % 8),
               "../../../devices/pci0000:00/0000:00:01.0");
  for (int i = 0; i < 400; ++i)
    tree_.link(fmt::format("/sys/class/infiniband/d{}", i), "../../devices/pci0000:00/0000:00:01.0/infiniband/one");
  const HostFacts host = facts();
  EXPECT_LE(host.devices.size(), 4097u);
  std::size_t gids = 0;
  for (const DeviceFacts& device : host.devices)
    for (const PortFacts& one : device.ports) gids += one.gids.size();
  EXPECT_LE(gids, 16u * 256u);
}

// What libhwloc would wait for or read without end is refused before.
class HostileForHwloc : public HostileTree {
 protected:
  void SetUp() override { tree_.add_cpus(1, 2); }
  std::string refusal() {
    const Result<Survey> survey = topology::survey({tree_.root()});
    return survey ? std::string("accepted") : std::string(survey.error().message());
  }
  std::string path(const std::string& name) { return tree_.root() + name; }
};

TEST_F(HostileForHwloc, a_pipe) {
  ASSERT_EQ(::mkfifo(path("/sys/devices/system/cpu/isolated").c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("cpu/isolated: is a pipe"));
}

TEST_F(HostileForHwloc, a_link_to_a_pipe_elsewhere_in_the_tree) {
  ASSERT_EQ(::mkfifo(path("/pipe").c_str(), 0600), 0);
  tree_.link("/sys/devices/system/cpu/isolated", "../../../../pipe");
  EXPECT_THAT(refusal(), HasSubstr("cpu/isolated: is a pipe"));
}

TEST_F(HostileForHwloc, a_link_to_a_link_elsewhere_in_the_tree_that_leads_out) {
  tree_.link("/elsewhere", "/etc/hostname");
  tree_.link("/sys/devices/system/cpu/isolated", "../../../../elsewhere");
  EXPECT_THAT(refusal(), HasSubstr("cpu/isolated: is a link that leads out"));
}

TEST_F(HostileForHwloc, a_device) {
  if (::mknod(path("/sys/devices/system/cpu/isolated").c_str(), S_IFCHR | 0600, makedev(1, 5)) != 0)
    GTEST_SKIP() << "devices may not be made here";
  EXPECT_THAT(refusal(), HasSubstr("cpu/isolated: is a device"));
}

TEST_F(HostileForHwloc, huge_masks_and_texts) {
  for (const char* name : {"/sys/devices/system/cpu/cpu0/topology/core_cpus", "/sys/devices/system/node/node0/cpumap",
                           "/proc/cpuinfo", "/proc/mounts"}) {
    tree_.write(name, "1\n");
    const auto size = std::filesystem::file_size(path(name));
    std::filesystem::resize_file(path(name), std::uintmax_t{3} << 30);
    EXPECT_THAT(refusal(), HasSubstr(std::string(name) + ": is longer than"));
    std::filesystem::resize_file(path(name), size);
  }
  EXPECT_EQ(refusal(), "accepted");
}

TEST(HostileTrees, a_list_of_numa_nodes_that_is_none_is_refused) {
  for (const char* text : {"", "\n", "-1\n", "x\n", "1-0\n", "1,\n", "0-1,\n", "99999999999999999999\n"}) {
    RecordedTree tree;
    tree.add_cpus(2, 2);
    tree.write("/sys/devices/system/node/online", text);
    const Result<Survey> read = load_survey(tree.root());
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code(), Code::Corrupt);
    EXPECT_THAT(std::string(read.error().message()),
                HasSubstr("/sys/devices/system/node/online: is no list of NUMA nodes"));
  }
}

TEST(HostileTrees, a_list_of_numa_nodes_may_end_as_a_string_of_c) {
  RecordedTree tree;
  tree.add_cpus(2, 2);
  tree.write("/sys/devices/system/node/online", std::string_view("0-1\n\0", 5));
  EXPECT_TRUE(load_survey(tree.root()));
}

TEST(HostileTrees, a_list_of_numa_nodes_is_judged_where_links_lead_to_it) {
  RecordedTree tree;
  tree.add_cpus(2, 2);
  const std::string nodes = tree.root() + "/sys/devices/system/node";
  std::filesystem::rename(nodes, tree.root() + "/sys/devices/nodes");
  std::filesystem::create_directory_symlink("../nodes", nodes);
  tree.write("/sys/devices/nodes/online", "\n");
  EXPECT_FALSE(load_survey(tree.root()));
}

}  // namespace
}  // namespace weft::topology
