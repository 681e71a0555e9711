// Writes, reads and compares the line.
#include "comm/build.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/fnv1a.hpp"
#include "base/parse.hpp"
#include "weft/schedule_builder.hpp"
#include "weft/version.hpp"

namespace weft::comm {
namespace {

constexpr std::size_t kMaxLine = 1024;

// Choices are made from the algorithms that there are.
std::string algorithms_digest() {
  std::string names;
  for (const Algorithm* algorithm : all_algorithms())
    names += fmt::format("{}/{} ", to_string(algorithm->collective), algorithm->name);
  return fmt::format("{:016x}", base::fnv1a(names));
}

std::string_view next_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

std::string name(const Build& build) { return fmt::format("Weft {} (protocol {})", build.version, build.protocol); }

// What is not alike, for people: "algorithms".
std::string differences(const Build& one, const Build& other) {
  std::string names;
  const auto add = [&](const std::string& feature) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", feature);
  };
  for (const auto& [feature, value] : one.features) {
    const auto found = other.features.find(feature);
    if (found == other.features.end() || found->second != value) add(feature);
  }
  for (const auto& [feature, value] : other.features)
    if (!one.features.contains(feature)) add(feature);
  return names;
}

Status unlike(int rank, const Build& theirs, const Build& first) {
  if (theirs.protocol != first.protocol) {
    return Status(
        Code::Unsupported,
        fmt::format("rank {} is {}, rank 0 is {}: they do not understand each other; run the same Weft on all "
                    "ranks",
                    rank, name(theirs), name(first)),
        rank);
  }
  return Status(
      Code::Unsupported,
      fmt::format("rank {} is {}, rank 0 is {}, and their builds differ in: {}; run the same Weft on all ranks", rank,
                  name(theirs), name(first), differences(theirs, first)),
      rank);
}

}  // namespace

Build own_build() {
  return {.protocol = kProtocol,
          .version = std::string(version()),
          .features = {{"algorithms", algorithms_digest()},
                       {"byte-order", std::endian::native == std::endian::little ? "little" : "big"}}};
}

std::string to_line(const Build& build) {
  std::string line = fmt::format("weft {} {}", build.protocol, build.version);
  for (const auto& [feature, value] : build.features) line += fmt::format(" {}={}", feature, value);
  return line + "\n";
}

bool take_build(std::string_view* text, Build* build) {
  const std::size_t end = text->substr(0, kMaxLine).find('\n');
  if (end == std::string_view::npos) return false;
  std::string_view line = text->substr(0, end);
  if (next_word(line) != "weft") return false;
  const auto protocol = base::parse_integer(next_word(line));
  const std::string_view version = next_word(line);
  if (!protocol || version.empty()) return false;
  *build = {.protocol = *protocol, .version = std::string(version), .features = {}};
  while (!line.empty()) {
    const std::string_view word = next_word(line);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    build->features.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  text->remove_prefix(end + 1);
  return true;
}

Result<std::vector<std::string>> of_one_build(const std::vector<std::string>& texts) {
  std::vector<std::string> rest;
  Build first;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const auto number = static_cast<int>(rank);
    std::string_view text = texts[rank];
    Build build;
    if (!take_build(&text, &build)) {
      return Status(Code::Unsupported,
                    fmt::format("rank {} does not say which Weft it is, rank 0 is {}; run the same Weft on all ranks",
                                number, name(own_build())),
                    number);
    }
    if (rank == 0) first = build;
    if (build.protocol != first.protocol || build.features != first.features) return unlike(number, build, first);
    rest.emplace_back(text);
  }
  return rest;
}

}  // namespace weft::comm
