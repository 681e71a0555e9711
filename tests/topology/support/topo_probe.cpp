// Runs of topo-probe.
#include "tests/topology/support/topo_probe.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace weft::topology::test {

std::string read_all(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void expect_one_line(const Outcome& outcome, const std::string& words) {
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_THAT(outcome.err, testing::StartsWith("topo-probe: "));
  EXPECT_THAT(outcome.err, testing::HasSubstr(words));
  EXPECT_EQ(outcome.out, "");
}

Outcome TopoProbe::run(const std::string& arguments) {
  const char* folder = std::getenv("WEFT_TEST_BIN");
  EXPECT_NE(folder, nullptr) << "set WEFT_TEST_BIN to the folder of topo-probe";
  const std::string command = std::string(folder != nullptr ? folder : ".") + "/topo-probe " + arguments + " >" +
                              path("out") + " 2>" + path("err");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(path("out")), read_all(path("err"))};
}

}  // namespace weft::topology::test
