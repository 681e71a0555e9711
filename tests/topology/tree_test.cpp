// Recorded trees in folders and archives: found where they are, read and nothing beside them, removed when done.
#include "topology/record/tree.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/topology/support/recorded_tree.hpp"
#include "tests/topology/support/tar_text.hpp"
#include "topology/record/unpack.hpp"

namespace weft::topology {
namespace {

using test::RecordedTree;
using test::TarText;
using testing::HasSubstr;

// A machine with two CPUs and a NIC, in a folder.
class Trees : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TMPDIR", unpacking_.path().c_str(), 1);
    tree_.add_cpus(1, 2);
    const RecordedTree::Pci nic = RecordedTree::connectx7();
    tree_.add_pci(nic);
    tree_.add_net("eth7", nic, "up", "100000");
    tree_.write("/proc/sys/kernel/hostname", "node17\n");
  }
  std::string archived(const std::string& options, const std::string& name) {
    const std::string path = scratch_.root() + "/" + name;
    const std::string command = fmt::format("tar {} -cf {} -C {} sys proc", options, path, tree_.root());
    EXPECT_EQ(std::system(command.c_str()), 0);
    return path;
  }
  std::string written(std::string_view bytes) {
    scratch_.write("/written.tar", bytes);
    return scratch_.root() + "/written.tar";
  }
  std::string refusal(std::string_view bytes) {
    const Result<Survey> survey = load_survey(written(bytes));
    return survey ? std::string("accepted") : std::string(survey.error().message());
  }

  void TearDown() override {
    ::unsetenv("TMPDIR");
    EXPECT_TRUE(std::filesystem::is_empty(unpacking_.path())) << "an unpacked tree was left behind";
  }

  RecordedTree tree_;
  RecordedTree scratch_;
  weft::test::TemporaryFolder unpacking_;
};

TEST_F(Trees, a_folder_and_archives_of_it_tell_the_same) {
  const Result<Survey> folder = load_survey(tree_.root());
  ASSERT_TRUE(folder) << folder.status().to_string();
  EXPECT_EQ(folder->source, "recorded tree");
  EXPECT_EQ(folder->graph.name, "node17");
  EXPECT_TRUE(folder->graph.find("eth7"));
  EXPECT_EQ(folder->graph, *probe({tree_.root()}));
  for (const auto& [options, name] :
       {std::pair("", "tree.tar"), std::pair("-z", "tree.tar.gz"), std::pair("-j", "tree.tar.bz2")}) {
    const Result<Survey> archive = load_survey(archived(options, name));
    ASSERT_TRUE(archive) << archive.status().to_string();
    EXPECT_EQ(*archive, *folder) << name;
  }
}

TEST_F(Trees, a_tree_may_lie_below_one_folder) {
  std::filesystem::create_directories(scratch_.root() + "/host");
  std::filesystem::copy(tree_.root(), scratch_.root() + "/host/node17",
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  const Result<Survey> survey = load_survey(scratch_.root() + "/host");
  ASSERT_TRUE(survey) << survey.status().to_string();
  EXPECT_EQ(survey->graph, load_survey(tree_.root())->graph);
}

TEST_F(Trees, cpus_are_told_where_the_first_is_offline) {
  tree_.write("/sys/devices/system/cpu/online", "1\n");
  std::filesystem::remove_all(tree_.root() + "/sys/devices/system/cpu/cpu0/topology");
  tree_.write("/sys/devices/system/cpu/cpu0/online", "0\n");
  const Result<Survey> survey = load_survey(tree_.root());
  ASSERT_TRUE(survey) << survey.status().to_string();
  for (const Remark& remark : survey->remarks)
    EXPECT_THAT(remark.evidence, testing::Not(HasSubstr("is not in this tree")));
  EXPECT_EQ(survey->graph.ids(NodeKind::Package).size(), 1u);
  EXPECT_EQ(survey->graph.nodes[static_cast<std::size_t>(survey->graph.ids(NodeKind::Machine).front())].cpus, "1");
}

TEST_F(Trees, remarks_and_errors_name_the_archive_not_the_folder_it_was_unpacked_into) {
  std::filesystem::remove_all(tree_.root() + "/sys/devices/system/cpu");
  const std::string archive = archived("", "tree.tar");
  const Result<Survey> survey = load_survey(archive);
  ASSERT_TRUE(survey) << survey.status().to_string();
  EXPECT_THAT(survey->remarks, testing::Contains(testing::AllOf(
                                   testing::Field(&Remark::subject, archive),
                                   testing::Field(&Remark::evidence, HasSubstr("cpu*/topology is not in this tree")))));
  const std::string message = refusal(TarText().file("sys/devices/system/node/online", "all\n").text());
  EXPECT_THAT(message,
              testing::StartsWith(scratch_.root() + "/written.tar/sys/devices/system/node/online: is no list"));
}

TEST_F(Trees, folders_without_a_tree_or_with_several_are_refused) {
  EXPECT_THAT(load_survey(scratch_.root()).error().message(), HasSubstr("holds no recorded tree"));
  scratch_.write("/one/sys/x", "");
  scratch_.write("/two/sys/x", "");
  EXPECT_THAT(load_survey(scratch_.root()).error().message(), HasSubstr("holds 2 recorded trees"));
}

TEST_F(Trees, a_link_that_leads_out_of_a_folder_is_refused) {
  tree_.link("/sys/class/net/eth8", "../../../../../../etc");
  EXPECT_THAT(load_survey(tree_.root()).error().message(), HasSubstr("eth8: is a link that leads out of the tree"));
  EXPECT_FALSE(probe({tree_.root()}));
}

TEST_F(Trees, a_folder_that_is_a_link_is_refused) {
  scratch_.write("/real/class/net/x", "");
  scratch_.link("/sys", "real");
  const Result<Graph> graph = probe({scratch_.root()});
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message(), HasSubstr("/sys: is a link; a recorded tree holds the folder itself"));
}

TEST_F(Trees, what_libhwloc_does_not_read_is_named) {
  tree_.write("/sys/devices/system/cpu/online", "5-6\n");
  EXPECT_THAT(load_survey(tree_.root()).error().message(),
              testing::StartsWith(tree_.root() + ": libhwloc cannot read this tree"));
  const std::string archive = archived("", "tree.tar");
  EXPECT_THAT(load_survey(archive).error().message(),
              testing::StartsWith(archive + ": libhwloc cannot read this tree"));
}

// libhwloc would end the process.
TEST_F(Trees, numa_nodes_that_are_none_are_refused) {
  for (const char* list : {"3,0\n", "0-1,1\n", "9-010\n", "0003,00-00\n", "\n", "1-0\n"}) {
    tree_.write("/sys/devices/system/node/online", list);
    EXPECT_THAT(load_survey(tree_.root()).error().message(), HasSubstr("node/online: is no list of NUMA nodes"))
        << list;
  }
  const std::string folder = tree_.root() + "/sys/devices/system/node";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  EXPECT_THAT(load_survey(tree_.root()).error().message(), HasSubstr("system/node: holds no NUMA node and no list"));
  for (const char* name : {"/node-1", "/node99999999", "/node0x10", "/node 1"}) {
    std::filesystem::create_directory(folder + name);
    EXPECT_THAT(load_survey(tree_.root()).error().message(), HasSubstr("names no NUMA node")) << name;
    std::filesystem::remove(folder + name);
  }
  std::filesystem::create_directory(folder + "/node0");
  EXPECT_TRUE(load_survey(tree_.root()));
}

TEST_F(Trees, links_of_an_archive_that_were_not_followed_are_told) {
  const std::string archive = archived("", "tree.tar");
  tree_.link("/sys/class/net/eth8", "../../../../../../etc");
  const Result<Survey> survey = load_survey(archived("", "leads-out.tar"));
  ASSERT_TRUE(survey) << survey.status().to_string();
  const auto told =
      testing::Contains(testing::Field(&Remark::evidence, HasSubstr("not followed: 1 link out of the tree")));
  EXPECT_THAT(survey->remarks, told);
  EXPECT_THAT(load_survey(archive)->remarks, testing::Not(told));
}

TEST_F(Trees, archives_that_lead_out_are_refused) {
  EXPECT_THAT(refusal(TarText().file("/etc/shadow", "x").text()), HasSubstr("the entry /etc/shadow leads out"));
  EXPECT_THAT(refusal(TarText().file("sys/../../x", "x").text()), HasSubstr("leads out"));
  EXPECT_THAT(refusal(TarText().file("sys", "x").file("sys/x", "x").text()), HasSubstr("both a file and a folder"));
}

TEST_F(Trees, devices_and_links_that_lead_out_are_not_made) {
  const std::string archive = written(TarText()
                                          .file("sys/real", "x")
                                          .link("sys/up", "../..")
                                          .link("sys/absolute", "/etc/passwd")
                                          .link("sys/winding", "a/../../etc")
                                          .link("sys/inside", "../sys/real")
                                          .link("sys/real", "inside")
                                          .device("dev/null0")
                                          .text());
  std::string folder;
  {
    const Result<UnpackedArchive> unpacked = UnpackedArchive::unpack(archive);
    ASSERT_TRUE(unpacked) << unpacked.status().to_string();
    folder = unpacked->folder();
    EXPECT_EQ(unpacked->left_out(), 3u);
    EXPECT_TRUE(std::filesystem::exists(folder + "/sys/inside"));
    EXPECT_FALSE(std::filesystem::is_symlink(folder + "/sys/real"));
    for (const char* absent : {"/sys/up", "/sys/absolute", "/sys/winding", "/dev/null0"})
      EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(folder + absent))) << absent;
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// A link to a shallow folder, and one below it that would climb from there.
TEST_F(Trees, nothing_is_written_through_a_link) {
  const std::string archive = written(TarText()
                                          .folder("top")
                                          .link("a/b/c/shallow", "../../../top")
                                          .link("a/b/c/shallow/x", "../../../../../etc")
                                          .text());
  const Result<UnpackedArchive> unpacked = UnpackedArchive::unpack(archive);
  ASSERT_TRUE(unpacked) << unpacked.status().to_string();
  EXPECT_TRUE(std::filesystem::is_empty(unpacked->folder() + "/top"));
}

TEST_F(Trees, cut_and_large_archives_are_refused_with_one_line) {
  std::ifstream in(archived("-j", "tree.tar.bz2"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t bytes : {std::size_t{4}, whole.size() / 3, whole.size() - 10})
    EXPECT_THAT(refusal(whole.substr(0, bytes)), HasSubstr("is no archive, or cut")) << bytes;
  EXPECT_THAT(refusal(TarText().claim("sys/large", kMaxUnpackedBytes + 1).text()),
              HasSubstr("more than 48 MiB unpacked"));
  EXPECT_THAT(refusal(TarText().claim("sys/cut", 4096).text()), HasSubstr("is no archive, or cut"));
  EXPECT_THAT(refusal(TarText().file("readme", "x").text()), HasSubstr("written.tar: holds no recorded tree"));
  EXPECT_THAT(refusal(TarText().folder("sys").text()),
              HasSubstr("written.tar: holds no recorded tree: there is nothing in "));
}

TEST_F(Trees, entries_that_are_not_read_are_no_larger_either) {
  EXPECT_THAT(refusal(TarText().claim("sys/devices/system/node/node0/memory7/state", kMaxUnpackedBytes + 1).text()),
              HasSubstr("more than 48 MiB unpacked"));
}

// Each entry is small enough, but there are many; their content is a hole of the file.
TEST_F(Trees, what_is_not_read_is_bounded_in_all) {
  const std::string path = written("");
  for (int i = 0; i < 20; ++i) {
    constexpr std::size_t kBytes = std::size_t{40} << 20;
    const std::string name = fmt::format("sys/devices/system/node/node0/memory{}/x", i);
    const std::string with_end = TarText().claim(name, kBytes).text();
    std::ofstream(path, std::ios::app | std::ios::binary) << with_end.substr(0, 512);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + kBytes);
  }
  const Result<Survey> survey = load_survey(path);
  ASSERT_FALSE(survey);
  EXPECT_THAT(survey.error().message(), HasSubstr("MiB of archive"));
}

TEST_F(Trees, an_archive_in_an_archive_is_refused) {
  const std::string once = archived("-z", "tree.tar.gz");
  ASSERT_EQ(std::system(fmt::format("gzip -c {0} > {0}.gz", once).c_str()), 0);
  const Result<Survey> survey = load_survey(once + ".gz");
  ASSERT_FALSE(survey);
  EXPECT_THAT(survey.error().message(), HasSubstr("compressed more than once"));
}

TEST(StaysInside, a_link_climbs_at_its_start_and_not_above_the_root) {
  EXPECT_TRUE(stays_inside("../../../devices/pci0000:00", 3));
  EXPECT_FALSE(stays_inside("../../../../devices", 3));
  EXPECT_TRUE(stays_inside("./x/y", 0));
  for (const char* target : {"", "/etc", "x/..", "../x/../y", ".."}) EXPECT_FALSE(stays_inside(target, 0)) << target;
}

}  // namespace
}  // namespace weft::topology
