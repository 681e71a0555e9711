// What is read as a file: pipes too, but not for ever.
#include "topology/read_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "base/file_descriptor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;

// A named pipe in a folder of its own.
class Pipe final {
 public:
  Pipe() { EXPECT_EQ(::mkfifo(path().c_str(), 0600), 0); }
  std::string path() const { return folder_.path() + "/pipe"; }

 private:
  weft::test::TemporaryFolder folder_;
};

TEST(ReadFile, a_pipe_is_read_to_its_end) {
  const Pipe pipe;
  const std::string text(200'000, 'x');
  std::thread writer([&] { std::ofstream(pipe.path()) << text; });
  const auto read = read_file(pipe.path(), 1'000'000);
  writer.join();
  ASSERT_TRUE(read.has_value()) << read.status().to_string();
  EXPECT_EQ(*read, text);
}

TEST(ReadFile, a_pipe_that_nobody_writes_is_given_up) {
  const Pipe pipe;
  const auto read = read_file(pipe.path(), 1000, {20, 60'000});
  EXPECT_EQ(read.status().code(), Code::Timeout);
  EXPECT_THAT(read.status().to_string(), HasSubstr(pipe.path() + ": nothing came from this pipe for 20 ms"));
}

TEST(ReadFile, a_pipe_that_drips_without_end_is_given_up) {
  const Pipe pipe;
  const base::FileDescriptor both_ends(::open(pipe.path().c_str(), O_RDWR | O_CLOEXEC));
  std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && ::write(both_ends.get(), "x", 1) == 1) std::this_thread::yield();
  });
  const auto read = read_file(pipe.path(), std::size_t{1} << 30, {20'000, 30});
  EXPECT_EQ(read.status().code(), Code::Timeout);
  EXPECT_THAT(read.status().to_string(), HasSubstr("did not end within 30 ms"));
}

TEST(ReadFile, looking_at_the_head_of_a_pipe_does_not_let_its_writer_go) {
  const Pipe pipe;
  std::thread writer([&] { std::ofstream(pipe.path()) << "all of it"; });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(read_head(pipe.path(), 10), "");
  const auto read = read_file(pipe.path(), 1000);
  writer.join();
  ASSERT_TRUE(read.has_value()) << read.status().to_string();
  EXPECT_EQ(*read, "all of it");
}

TEST(ReadFile, how_much_is_read_of_a_pipe_depends_on_how_it_begins) {
  const Pipe pipe;
  std::signal(SIGPIPE, SIG_IGN);
  std::thread writer([&] { std::ofstream(pipe.path()) << 'z' << std::string(std::size_t{8} << 20, 'x'); });
  const auto read = read_file(pipe.path(), [](std::string_view head) { return head[0] == 'z' ? 100'000u : 0u; });
  writer.join();
  EXPECT_EQ(read.status().code(), Code::ResourceExhausted);
  EXPECT_THAT(read.status().to_string(), HasSubstr("longer than 100000 bytes"));
}

TEST(ReadFile, devices_and_folders_are_not_read) {
  for (const char* path : {"/dev/zero", "/dev/null"})
    EXPECT_THAT(read_file(path, 1000).status().to_string(), HasSubstr("it is a device"));
  EXPECT_THAT(read_file("/", 1000).status().to_string(), HasSubstr("it is a folder"));
  EXPECT_EQ(read_head("/dev/zero", 10), "");
}

}  // namespace
}  // namespace weft::topology
