// ctest: serial programs
// The commands that the documentation shows are run as they stand there, in a folder that has the files they name.
// Not run: what measures for minutes (docs/benchmarks.md).
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace weft::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::vector<std::string> lines_of(const fs::path& page) {
  std::ifstream file(page);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// What a reader would type: without indentation, prompt, and the remark that stands behind two spaces.
std::string typed(std::string line) {
  line.erase(0, line.find_first_not_of(" $"));
  return line.substr(0, line.find("  "));
}

std::vector<std::string> commands_of(const fs::path& page) {
  std::vector<std::string> commands;
  for (const std::string& line : lines_of(page)) {
    const std::string command = typed(line);
    for (const char* start : {"topo-probe ", "weft-schedule ", "mpirun -n 2 topo-probe "})
      if ((command + " ").starts_with(start)) commands.push_back(command);
  }
  return commands;
}

// The block of `page`, indented by four, whose first line is `first`.
std::string block_of(const fs::path& page, const std::string& first) {
  std::string block;
  for (const std::string& line : lines_of(page)) {
    if (block.empty() && line != "    " + first) continue;
    if (!line.starts_with("    ")) break;
    block += line.substr(4) + "\n";
  }
  return block;
}

class Documented : public ::testing::TestWithParam<const char*> {
 protected:
  Documented() {
    copy("diff-host.xml", "host.xml");
    copy("diff-guest.xml", "guest.xml");
    copy("lassen-4xv100-power9-hwloc1.xml", "hwloc.xml");
    copy("tioga-8gcd-mi250x-4xslingshot.xml", "tioga.xml");
    fs::create_directory(at("nodes"));
    copy("diff-host.xml", "nodes/node1.xml");
    copy("diff-host.xml", "nodes/node2.xml");
    write("llama3.fabric", block_of("docs/topology.md", "weft-fabric 1"));
    write("site.json", block_of("docs/audit.md", "{"));
    shell("topo-probe record today.tar.bz2");
  }

  static void replace(std::string& text, const std::string& from, const std::string& to) {
    if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  }

  Outcome shell(std::string command) {
    // Places and times that suit a user, not a test.
    replace(command, "/var/lib/node_exporter/", "");
    replace(command, "--interval 60", "--interval 1");
    const std::string path = fs::path(program("topo-probe")).parent_path().string() + ":" + std::getenv("PATH");
    return run({"sh", "-c", "cd '" + folder_.path() + "' && " + command},
               {{"PATH", path},
                {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                {"OMPI_MCA_rmaps_base_oversubscribe", "1"}},
               120s);
  }

 private:
  fs::path at(const std::string& name) const { return fs::path(folder_.path()) / name; }
  void copy(const std::string& data, const std::string& name) {
    fs::copy_file("tests/topology/data/" + data, at(name));
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_FALSE(text.empty()) << name;
    std::ofstream(at(name)) << text;
  }

  TemporaryFolder folder_;
};

// Whether the command uses a program that is not installed.
bool lacks(const std::string& command, std::string_view use) {
  if (command.find(use) == std::string::npos) return false;
  const std::string program(use.substr(use.find_first_not_of("| ")));
  if (run({"sh", "-c", "command -v " + program}).succeeded()) return false;
  std::cout << "left out, because there is no " << program << ": " << command << "\n";
  return true;
}

TEST_P(Documented, commands_run_as_they_stand) {
  const std::vector<std::string> commands = commands_of(GetParam());
  ASSERT_FALSE(commands.empty());
  for (const std::string& command : commands) {
    if (lacks(command, "mpirun ") || lacks(command, "| dot ")) continue;
    const Outcome outcome = shell(command);
    // 1 says that there are findings, or differences.
    const bool judges = command.find("--fail-on") != std::string::npos || command.starts_with("topo-probe diff");
    EXPECT_TRUE(outcome.in_time) << command;
    EXPECT_TRUE(outcome.exit_code == 0 || (judges && outcome.exit_code == 1)) << command << "\n" << outcome.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, Documented,
                         ::testing::Values("README.md", "docs/topology.md", "docs/audit.md", "docs/selection.md",
                                           "docs/schedules.md"),
                         [](const auto& page) {
                           std::string name = fs::path(page.param).stem().string();
                           std::transform(name.begin(), name.end(), name.begin(),
                                          [](unsigned char letter) { return std::tolower(letter); });
                           return name;
                         });

}  // namespace
}  // namespace weft::test
