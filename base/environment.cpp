// A copy of environ, and look-ups in it.
#include "base/environment.hpp"

#include <unistd.h>

namespace weft::base {

Environment Environment::of_process() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return Environment(std::move(variables));
}

std::optional<std::string_view> Environment::get(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end() || found->second.empty()) return {};
  return found->second;
}

std::vector<std::string_view> Environment::names_with_prefix(std::string_view prefix) const {
  std::vector<std::string_view> names;
  for (auto entry = variables_.lower_bound(prefix); entry != variables_.end() && entry->first.starts_with(prefix);
       ++entry) {
    names.push_back(entry->first);
  }
  return names;
}

}  // namespace weft::base
