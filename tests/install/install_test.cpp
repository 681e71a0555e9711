// ctest: serial programs
// What `cmake --install` lays down is enough for other projects, by CMake and by pkg-config, also after it was moved.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kSaid = "weft 0.1.0: 8 GPUs, sum 1 2 3";
constexpr const char* kSaidInC = "weft 100 in c: sum 1 2 3";

std::string build_folder() { return fs::path(program("")).parent_path().parent_path(); }

void install(const std::string& prefix, const Environment& environment = {}) {
  const auto outcome = run({"cmake", "--install", build_folder(), "--prefix", prefix}, environment);
  ASSERT_TRUE(outcome.succeeded()) << outcome.output;
}

// Tests run in the top folder of the sources.
std::string consumer(const std::string& name = "consumer") { return fs::absolute("tests/install/" + name); }

// The project `name` makes the program of that name.
void expect_cmake_consumer_works(const std::string& prefix, const std::string& name, const std::string& said) {
  const TemporaryFolder folder;
  const auto configured =
      run({"cmake", "-S", consumer(name), "-B", folder.path(), "-G", "Ninja", "-DCMAKE_PREFIX_PATH=" + prefix});
  ASSERT_TRUE(configured.succeeded()) << configured.output;
  const auto built = run({"cmake", "--build", folder.path()}, {}, 120s);
  ASSERT_TRUE(built.succeeded()) << built.output;
  const auto outcome = run({folder.path() + "/" + name});
  ASSERT_TRUE(outcome.succeeded()) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr(said));
}

// The folder of weft.pc below the prefix: lib/pkgconfig or lib/x86_64-linux-gnu/pkgconfig.
std::string pkg_config_folder(const std::string& prefix) {
  for (const auto& entry : fs::recursive_directory_iterator(prefix)) {
    if (entry.path().filename() == "weft.pc") return entry.path().parent_path();
  }
  return "";
}

// `compiler` with the source it is given.
void expect_pkg_config_consumer_works(const std::string& prefix, const std::string& compiler, const std::string& said) {
  const auto folder = pkg_config_folder(prefix);
  ASSERT_NE(folder, "");
  const TemporaryFolder work;
  const auto compile = compiler + " -o " + work.path() + "/consumer $(pkg-config --cflags --libs weft)";
  const auto built = run({"sh", "-c", compile}, {{"PKG_CONFIG_PATH", folder}}, 120s);
  ASSERT_TRUE(built.succeeded()) << built.output;
  const auto outcome = run({work.path() + "/consumer"}, {{"LD_LIBRARY_PATH", fs::path(folder).parent_path()}});
  ASSERT_TRUE(outcome.succeeded()) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr(said));
}

void expect_consumers_work(const std::string& prefix) {
  expect_cmake_consumer_works(prefix, "consumer", kSaid);
  expect_cmake_consumer_works(prefix, "consumer_c", kSaidInC);
  expect_pkg_config_consumer_works(prefix, "c++ -std=c++20 " + consumer() + "/consumer.cpp", kSaid);
  expect_pkg_config_consumer_works(prefix, "cc -std=c99 -pedantic-errors " + consumer("consumer_c") + "/consumer.c",
                                   kSaidInC);
}

TEST(Install, serves_cmake_and_pkg_config) {
  const TemporaryFolder folder;
  const auto prefix = folder.path() + "/prefix";
  install(prefix);
  expect_consumers_work(prefix);
}

TEST(Install, serves_them_also_after_it_was_moved) {
  const TemporaryFolder folder;
  install(folder.path() + "/first");
  const auto second = folder.path() + "/elsewhere/second";
  fs::create_directories(folder.path() + "/elsewhere");
  fs::rename(folder.path() + "/first", second);
  expect_consumers_work(second);
  const auto outcome = run({second + "/bin/weft-bench", "all_reduce", "--max-bytes", "1k", "--iterations", "1"});
  EXPECT_TRUE(outcome.succeeded()) << outcome.output;
}

TEST(Install, honours_destdir) {
  const TemporaryFolder folder;
  install("/opt/weft", {{"DESTDIR", folder.path()}});
  EXPECT_TRUE(fs::exists(folder.path() + "/opt/weft/include/weft/weft.hpp"));
  EXPECT_TRUE(fs::exists(folder.path() + "/opt/weft/libexec/weft/weft-vendor"));
  EXPECT_TRUE(fs::exists(folder.path() + "/opt/weft/include/weft/weft.h"));
  expect_pkg_config_consumer_works(folder.path() + "/opt/weft", "c++ -std=c++20 " + consumer() + "/consumer.cpp",
                                   kSaid);
}

TEST(Install, names_no_folder_of_the_build_or_the_sources) {
  const TemporaryFolder folder;
  install(folder.path());
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    const auto extension = entry.path().extension();
    if (extension != ".cmake" && extension != ".pc") continue;
    const auto found = run({"grep", "-F", "-e", folder.path(), "-e", fs::current_path(), entry.path()});
    EXPECT_EQ(found.exit_code, 1) << entry.path() << ": " << found.output;
  }
}

}  // namespace
}  // namespace weft::test
