// Files are whole or not there, and only files are ever replaced.
#include "base/output.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.hpp"

namespace weft::base {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class WriteFile : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  static std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return std::move(text).str();
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  void expect_refused(const std::string& where, const std::string& why) const {
    const Status status = write_file(where, "text");
    EXPECT_EQ(status.code(), Code::InvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(where));
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_EQ(check_writable(where).message(), status.message());
  }

  test::TemporaryFolder owner_;
  const std::string& folder_ = owner_.path();
};

TEST_F(WriteFile, replaces_a_file_as_a_whole_and_leaves_nothing_beside_it) {
  ASSERT_TRUE(write_file(path("a"), "first").ok());
  ASSERT_TRUE(write_file(path("a"), "second").ok());
  EXPECT_EQ(contents(path("a")), "second");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, a_symbolic_link_stays_one_and_its_target_is_written) {
  ASSERT_TRUE(write_file(path("target"), "old").ok());
  fs::create_symlink("target", path("link"));
  fs::create_symlink(path("link"), path("link to link"));
  ASSERT_TRUE(write_file(path("link to link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(path("link to link")) && fs::is_symlink(path("link")));
  EXPECT_EQ(contents(path("target")), "new");
}

TEST_F(WriteFile, a_link_to_nothing_makes_its_target) {
  fs::create_symlink("target", path("link"));
  ASSERT_TRUE(write_file(path("link"), "text").ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(contents(path("target")), "text");
}

TEST_F(WriteFile, what_is_no_file_is_named_and_left_alone) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  expect_refused(path("pipe"), "it is a pipe; give the name of a file");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  fs::create_directory(path("folder"));
  expect_refused(path("folder"), "it is a folder");
  expect_refused("", "give the name of a file");
  // A device of our own: only root can make one, and a mistake here would replace it.
  if (mknod(path("null").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) return;
  expect_refused(path("null"), "it is a device");
  fs::create_symlink("null", path("link"));
  expect_refused(path("link"), "it is a device");
  EXPECT_TRUE(fs::is_character_file(path("null")));
}

TEST_F(WriteFile, a_file_that_is_replaced_keeps_its_mode) {
  for (const mode_t mode : {0600, 0640, 0444, 0777}) {
    ASSERT_TRUE(write_file(path("a"), "old").ok());
    ASSERT_EQ(chmod(path("a").c_str(), mode), 0);
    ASSERT_TRUE(write_file(path("a"), "new").ok());
    struct stat about {};
    ASSERT_EQ(stat(path("a").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, mode);
    EXPECT_EQ(contents(path("a")), "new");
  }
}

TEST_F(WriteFile, a_file_that_is_replaced_keeps_its_owner_where_this_process_may_say_so) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  ASSERT_TRUE(write_file(path("a"), "old").ok());
  ASSERT_EQ(chown(path("a").c_str(), 4711, 4712), 0);
  ASSERT_TRUE(write_file(path("a"), "new").ok());
  struct stat about {};
  ASSERT_EQ(stat(path("a").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 4711u);
  EXPECT_EQ(about.st_gid, 4712u);
}

TEST_F(WriteFile, a_new_file_has_the_mode_that_the_umask_leaves) {
  const mode_t before = umask(027);
  EXPECT_TRUE(write_file(path("a"), "text").ok());
  umask(before);
  struct stat about {};
  ASSERT_EQ(stat(path("a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, mode_t{0640});
}

TEST_F(WriteFile, links_in_a_circle_are_an_error_and_stay) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  fs::create_symlink("itself", path("itself"));
  for (const char* name : {"a", "b", "itself"}) {
    const Status status = write_file(path(name), "text");
    EXPECT_EQ(status.code(), Code::SystemError);
    EXPECT_THAT(std::string(status.message()), HasSubstr("Too many levels of symbolic links"));
    EXPECT_EQ(check_writable(path(name)).message(), status.message());
    EXPECT_TRUE(fs::is_symlink(path(name)));
  }
  EXPECT_EQ(entries(), 3u);
}

TEST_F(WriteFile, a_name_may_be_as_long_as_names_can_be) {
  const std::string longest(255, 'n');
  ASSERT_TRUE(write_file(path(longest), "text").ok());
  EXPECT_EQ(contents(path(longest)), "text");
  EXPECT_THAT(std::string(write_file(path(longest + "n"), "text").message()), HasSubstr("File name too long"));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, what_another_process_of_the_same_number_left_behind_is_in_nobodys_way) {
  std::ofstream(path(".weft-" + std::to_string(getpid()) + "-0.tmp")) << "left";
  ASSERT_TRUE(write_file(path("a"), "text").ok());
  EXPECT_EQ(contents(path("a")), "text");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(WriteFile, a_file_that_would_be_larger_than_allowed_is_an_error_and_leaves_nothing) {
  ASSERT_TRUE(write_file(path("a"), "old").ok());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{8192, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = write_file(path("a"), std::string(100'000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), Code::SystemError);
  EXPECT_THAT(std::string(status.message()), HasSubstr("File too large"));
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, a_folder_that_is_not_there_is_an_error) {
  EXPECT_THAT(std::string(write_file(path("none/a"), "text").message()), HasSubstr("No such file or directory"));
  EXPECT_THAT(std::string(check_writable(path("none/a")).message()), HasSubstr("No such file or directory"));
  EXPECT_TRUE(check_writable(path("a")).ok());
  EXPECT_EQ(entries(), 0u);
}

}  // namespace
}  // namespace weft::base
