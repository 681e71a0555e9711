// What both tables have first, then what only one of them has.
#include "topology/diff/tables.hpp"

#include <set>

namespace weft::topology {
namespace {

std::string group_of(const std::string& key) { return key.substr(0, key.find_first_of(".[")); }

std::string part_of(const std::string& key) {
  const std::size_t end = key.find(']');
  return end == std::string::npos ? key : key.substr(0, end + 1);
}

bool has_group(const FactTable& table, const std::string& key) {
  const auto found = table.lower_bound(group_of(key));
  return found != table.end() && group_of(found->first) == group_of(key);
}

bool has_part(const FactTable& table, const std::string& part) {
  const auto found = table.lower_bound(part);
  return found != table.end() && found->first.starts_with(part);
}

}  // namespace

void compare_tables(const std::string& subject, const FactTable& before, const FactTable& after, bool equally_told,
                    std::vector<Change>& changes) {
  for (const auto& [key, value] : before)
    if (const auto found = after.find(key); found != after.end() && found->second != value)
      changes.push_back({ChangeKind::Changed, subject, key, value, found->second});
  if (!equally_told) return;
  std::set<std::string> told;
  const auto one_sided = [&](const FactTable& here, const FactTable& there, ChangeKind kind) {
    for (const auto& [key, value] : here) {
      if (there.contains(key) || !has_group(there, key)) continue;
      const std::string part = part_of(key);
      const bool whole = part != key && !has_part(there, part);
      if (!told.insert(whole ? part : key).second) continue;
      const std::string words = whole ? "there" : value;
      changes.push_back({kind, subject, whole ? part : key, kind == ChangeKind::Lost ? words : "",
                         kind == ChangeKind::Added ? words : ""});
    }
  };
  one_sided(before, after, ChangeKind::Lost);
  one_sided(after, before, ChangeKind::Added);
}

}  // namespace weft::topology
