// ctest: programs
// What topo-probe writes is there as a whole or not at all, and what went wrong is one line and exit status 2: where
// files may not grow, where the disk is full, where a name says no kind of archive.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Output : public ::testing::Test {
 protected:
  Outcome shell(const std::string& command) const {
    const std::string folder = fs::path(program("topo-probe")).parent_path().string();
    return run({"sh", "-c", "PATH='" + folder + "':\"$PATH\"; cd '" + folder_.path() + "' && " + command});
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path()))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }
  static void expect_one_line(const Outcome& outcome, const std::string& words) {
    EXPECT_EQ(outcome.exit_code, 2) << "signal " << outcome.signal << "\n" << outcome.output;
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(words));
  }

  TemporaryFolder folder_;
};

TEST_F(Output, beyond_the_largest_file_that_is_allowed_is_told_and_nothing_is_left) {
  for (const std::string command :
       {"--model dgx-h100 --json --output report", "--model dgx-h100 --format html --output report"})
    expect_one_line(shell("ulimit -f 4 && exec topo-probe " + command), "cannot write \"report\": File too large");
  EXPECT_THAT(names(), IsEmpty());
  expect_one_line(shell("ulimit -f 4 && exec topo-probe --model dgx-h100 --json > plain"),
                  "cannot write to standard output: File too large");
  EXPECT_THAT(names(), ElementsAre("plain"));
}

TEST_F(Output, that_could_not_be_replaced_stays_as_it_was) {
  std::ofstream(folder_.path() + "/report") << "old";
  expect_one_line(shell("ulimit -f 4 && exec topo-probe --model dgx-h100 --json --output report"), "File too large");
  std::ifstream file(folder_.path() + "/report");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "old");
  EXPECT_THAT(names(), ElementsAre("report"));
}

TEST_F(Output, on_a_full_disk_is_told_and_nothing_is_left) {
  const std::string mounted = "mkdir disk && exec unshare -rm sh -c 'mount -t tmpfs -o size=16k none disk && ";
  if (!shell(mounted + "true'").succeeded()) GTEST_SKIP() << "no disk of our own can be mounted here";
  fs::remove(folder_.path() + "/disk");
  const Outcome outcome =
      shell(mounted + "{ topo-probe --model dgx-h100 --json --output disk/report; echo status $?; ls -A disk; }'");
  EXPECT_THAT(outcome.output, testing::EndsWith("status 2\n"));
  EXPECT_THAT(outcome.output, HasSubstr("cannot write \"disk/report\": No space left on device\n"));
}

TEST_F(Output, of_record_needs_an_ending_that_is_written) {
  expect_one_line(shell("topo-probe record here.zip"), "give a name that ends in .tar.bz2, .tar.gz, .tar.xz or .tar");
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(shell("topo-probe record here.tar.gz && gzip -t here.tar.gz").exit_code, 0);
  EXPECT_THAT(shell("topo-probe record --help").output, HasSubstr(".tar.bz2, .tar.gz, .tar.xz or .tar"));
}

}  // namespace
}  // namespace weft::test
