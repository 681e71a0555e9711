// Changes in words and as JSON.
#include "topology/diff/change.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace weft::topology {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"lost", "added", "changed"};

}  // namespace

std::string_view to_string(ChangeKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string describe(const Change& change) {
  switch (change.kind) {
    case ChangeKind::Lost:
      return fmt::format("{}: {} {}", change.subject, change.what, change.before);
    case ChangeKind::Added:
      return fmt::format("{}: {} {}", change.subject, change.what, change.after);
    case ChangeKind::Changed:
      break;
  }
  return fmt::format("{}: {} {} -> {}", change.subject, change.what, change.before, change.after);
}

void write(base::JsonWriter& json, const Change& change) {
  const auto known = [](const std::string& text) { return text.empty() ? std::optional<std::string>() : text; };
  json.begin_object();
  json.member("kind", to_string(change.kind));
  json.member("subject", change.subject);
  json.member("what", change.what);
  json.member("before", known(change.before));
  json.member("after", known(change.after));
  json.end_object();
}

}  // namespace weft::topology
