// ctest: serial programs
// The example of README.md runs, on one rank and on four; and the pages that README.md and docs/index.md lead to are
// there.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/process.hpp"

namespace weft::test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST(Readme, example_runs_on_one_rank) {
  const auto outcome = run({program("readme_example")});
  EXPECT_TRUE(outcome.succeeded()) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("rank 0 of 1: 0"));
}

TEST(Readme, example_runs_on_four_ranks) {
  const auto rendezvous = "127.0.0.1:" + std::to_string(free_port());
  std::vector<Process> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.push_back(
        Process::start({program("readme_example")},
                       {{"WEFT_RANK", std::to_string(rank)}, {"WEFT_SIZE", "4"}, {"WEFT_RENDEZVOUS", rendezvous}}));
  }
  for (int rank = 0; rank < 4; ++rank) {
    const auto outcome = ranks[static_cast<std::size_t>(rank)].wait(30s);
    EXPECT_TRUE(outcome.succeeded()) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("rank " + std::to_string(rank) + " of 4: 6"));
  }
}

// Where the links of a page lead, as paths. Tests run in the top folder of the sources.
std::vector<std::filesystem::path> links_of(const std::filesystem::path& page) {
  std::ifstream file(page);
  std::ostringstream content;
  content << file.rdbuf();
  const auto text = content.str();
  std::vector<std::filesystem::path> links;
  for (auto at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
    const auto target = text.substr(at + 2, text.find(')', at) - at - 2);
    const auto path = target.substr(0, target.find('#'));
    const bool elsewhere = path.empty() || path.find(':') != std::string::npos;  // in the page, or on the web
    if (!elsewhere) links.push_back((page.parent_path() / path).lexically_normal());
  }
  return links;
}

TEST(Documentation, links_lead_somewhere) {
  std::vector<std::filesystem::path> pages = {"README.md"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator("docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  for (const auto& page : pages) {
    for (const auto& link : links_of(page)) EXPECT_TRUE(std::filesystem::exists(link)) << page << " leads to " << link;
  }
}

TEST(Documentation, the_index_names_every_page) {
  const auto links = links_of("docs/index.md");
  for (const auto& entry : std::filesystem::recursive_directory_iterator("docs")) {
    if (entry.path().extension() != ".md" || entry.path() == "docs/index.md") continue;
    EXPECT_THAT(links, ::testing::Contains(entry.path()));
  }
}

}  // namespace
}  // namespace weft::test
