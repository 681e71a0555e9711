// Reads fabric files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "base/parse.hpp"
#include "topology/fabric/fabric.hpp"
#include "topology/import/source_text.hpp"
#include "topology/limits.hpp"

namespace weft::topology {
namespace {

constexpr std::string_view kMagic = "weft-fabric";
constexpr std::size_t kMaxHostLines = 64;
constexpr std::string_view kItems = "name, hosts, levels, rails, leaf, pod or latency";

using Words = std::span<const std::string_view>;

std::vector<std::string_view> words_before_comment(std::string_view line) {
  return words_of(line.substr(0, line.find('#')));
}

class FabricReader {
 public:
  explicit FabricReader(const std::string& path) : path_(path) {}

  Result<FabricFile> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      std::string_view line = text.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      const std::vector<std::string_view> words = words_before_comment(line);
      if (!words.empty()) WEFT_TRY(read_item(words));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!seen_.contains(kMagic)) return import_error(path_, 0, "has no line \"weft-fabric 1\"");
    return std::move(file_);
  }

 private:
  Status wrong(std::string_view reason) const { return import_error(path_, line_, reason); }

  Result<int> number(std::string_view word, std::string_view what, int most) const {
    const std::optional<int> value = base::parse_integer(word);
    if (!value || *value < 1 || *value > most)
      return wrong(fmt::format("{} \"{}\" needs a whole number from 1 to {}", what, word, most));
    return *value;
  }

  Status read_item(Words words) {
    const std::string_view key = words.front();
    if (!seen_.contains(kMagic) && key != kMagic)
      return wrong(fmt::format("\"{}\" stands before the first line, which is \"weft-fabric 1\"", key));
    if (!seen_.insert(std::string(key)).second && key != "hosts") return wrong(fmt::format("{} is given twice", key));
    const Words rest = words.subspan(1);
    if (key == kMagic) return read_version(rest);
    if (key == "name") return read_name(rest);
    if (key == "hosts") return read_hosts(rest);
    if (key == "levels") return read_levels(rest);
    if (key == "rails") return read_rails(rest);
    if (key == "leaf") return read_level(rest, "leaf", file_.spec.leaf_hosts, file_.spec.leaf_oversubscription);
    if (key == "pod") return read_level(rest, "pod", file_.spec.pod_hosts, file_.spec.pod_oversubscription);
    if (key == "latency") return read_latency(rest);
    return wrong(fmt::format("unknown item \"{}\"; write {}", key, kItems));
  }

  Status read_version(Words rest) {
    if (rest.size() != 1 || rest.front() != "1")
      return wrong("is not version 1 of the fabric file; this reads \"weft-fabric 1\"");
    return {};
  }

  Status read_name(Words rest) {
    if (rest.size() != 1) return wrong("name needs one word");
    file_.name = rest.front();
    return {};
  }

  // hosts N of MODEL... | hosts N from FILE
  Status read_hosts(Words rest) {
    if (rest.size() < 3 || (rest[1] != "of" && rest[1] != "from"))
      return wrong("hosts needs a number and a machine: \"hosts 4 of dgx-h100\" or \"hosts 4 from node.xml\"");
    if (file_.hosts.size() == kMaxHostLines) return wrong(fmt::format("more than {} lines of hosts", kMaxHostLines));
    FabricFile::Hosts& hosts = file_.hosts.emplace_back();
    WEFT_TRY_ASSIGN(hosts.count, number(rest[0], "hosts", kMaxHosts));
    const Words what = rest.subspan(2);
    if (rest[1] == "of")
      hosts.model = fmt::format("{}", fmt::join(what, " "));
    else if (what.size() == 1)
      hosts.file = what.front();
    else
      return wrong("hosts from needs one file name without blanks");
    return {};
  }

  Status read_levels(Words rest) {
    if (rest.size() != 1) return wrong("levels needs one number");
    WEFT_TRY_ASSIGN(file_.spec.levels, number(rest.front(), "levels", 3));
    return {};
  }

  Status read_rails(Words rest) {
    if (rest.size() > 1 || (rest.size() == 1 && rest.front() != "only"))
      return wrong("rails is followed by \"only\" or nothing");
    file_.spec.rails = rest.empty() ? Rails::Joined : Rails::Only;
    return {};
  }

  // leaf hosts N [oversubscription R]
  Status read_level(Words rest, std::string_view what, int& hosts, double& oversubscription) {
    if ((rest.size() != 2 && rest.size() != 4) || rest[0] != "hosts" ||
        (rest.size() == 4 && rest[2] != "oversubscription"))
      return wrong(fmt::format("{0} is written \"{0} hosts N\" or \"{0} hosts N oversubscription R\"", what));
    WEFT_TRY_ASSIGN(hosts, number(rest[1], fmt::format("{} hosts", what), kMaxHosts));
    if (rest.size() == 2) return {};
    const std::optional<double> ratio = base::parse_decimal(rest[3]);
    if (!ratio || *ratio < 1 || *ratio > 1000)
      return wrong(fmt::format("oversubscription \"{}\" needs a number from 1 (none) to 1000", rest[3]));
    oversubscription = *ratio;
    return {};
  }

  Status read_latency(Words rest) {
    const std::optional<double> us = rest.size() == 1 ? base::parse_decimal(rest.front()) : std::nullopt;
    if (!us || *us < 0 || *us > 1e6)
      return wrong("latency needs one number of microseconds, of a link between switches");
    file_.spec.latency_us = *us;
    return {};
  }

  const std::string& path_;
  std::size_t line_ = 0;
  std::set<std::string, std::less<>> seen_;
  FabricFile file_;
};

}  // namespace

bool is_fabric_file(std::string_view text) {
  const std::string_view start = text.substr(0, 4096);
  for (std::string_view line : base::split(start, '\n')) {
    const std::vector<std::string_view> words = words_before_comment(line);
    if (!words.empty()) return words.front() == kMagic;
  }
  return false;
}

Result<FabricFile> parse_fabric_file(const std::string& path, std::string_view text) {
  WEFT_TRY(check_source_text(path, text));
  WEFT_TRY_ASSIGN(FabricFile file, FabricReader(path).read(text));
  const FabricSpec& spec = file.spec;
  if (spec.levels < 3 && spec.pod_hosts > 0) return import_error(path, 0, "pods need levels 3");
  if (spec.levels < 2 && spec.leaf_hosts > 0) return import_error(path, 0, "leaves need levels 2 or 3");
  return file;
}

}  // namespace weft::topology
