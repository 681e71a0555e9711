// What is read as a file: pipes too, but not for ever.
#include "topology/read_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "tests/support/temporary_folder.hpp"

namespace weft::topology {
namespace {

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
  const auto read = read_file(pipe.path(), 1000, 20);
  EXPECT_EQ(read.status().code(), Code::Timeout);
  EXPECT_THAT(read.status().to_string(), ::testing::HasSubstr(pipe.path() + ": nothing came"));
}

}  // namespace
}  // namespace weft::topology
