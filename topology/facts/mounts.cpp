// "25 24 0:23 / /dev/shm rw,relatime shared:5 - tmpfs tmpfs rw,size=65536k": optional words stand before the dash.
#include "topology/facts/mounts.hpp"

#include <algorithm>

#include "base/parse.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxMounts = 8192;

}  // namespace

std::vector<Mount> parse_mounts(std::string_view text) {
  std::vector<Mount> mounts;
  for (const std::string_view line : lines_of(text)) {
    if (mounts.size() == kMaxMounts) break;
    const std::vector<std::string_view> words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (dash - words.begin() < 6 || words.end() - dash < 4) continue;
    Mount mount{std::string(words[3]), std::string(words[4]), std::string(dash[1]), {}};
    for (const std::string_view option : base::split(dash[3], ',')) mount.options.emplace_back(option);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

}  // namespace weft::topology
