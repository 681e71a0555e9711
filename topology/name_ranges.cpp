// Runs of numbered names.
#include "topology/name_ranges.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace weft::topology {
namespace {

constexpr std::size_t kMaxRanges = 12;

// A name as what stands before its last number, and that number with its width.
struct Numbered {
  std::string before;
  std::string digits;
  std::string after;
};

Numbered split_number(const std::string& name) {
  const std::size_t last = name.find_last_of("0123456789");
  if (last == std::string::npos) return {name, "", ""};
  const std::size_t first = name.find_last_not_of("0123456789", last) + 1;
  if (last - first >= 9) return {name, "", ""};
  return {name.substr(0, first), name.substr(first, last - first + 1), name.substr(last + 1)};
}

// "08" and "09", "9" and "10"; not "9" and "010".
bool follows(const Numbered& a, const Numbered& b) {
  if (a.digits.empty() || b.digits.empty() || a.before != b.before || a.after != b.after) return false;
  const bool same_style = a.digits.size() == b.digits.size() ||
                          (a.digits.size() < b.digits.size() && a.digits.front() != '0' && b.digits.front() != '0');
  return same_style && std::stol(a.digits) + 1 == std::stol(b.digits);
}

}  // namespace

std::string name_ranges(const std::vector<std::string>& names) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < names.size();) {
    if (++ranges > kMaxRanges) return text + fmt::format(" and {} more", names.size() - i);
    const Numbered first = split_number(names[i]);
    Numbered last = first;
    std::size_t next = i + 1;
    for (; next < names.size(); ++next) {
      Numbered after = split_number(names[next]);
      if (!follows(last, after)) break;
      last = std::move(after);
    }
    text += text.empty() ? "" : " ";
    if (next - i > 2)
      text += fmt::format("{}[{}-{}]{}", first.before, first.digits, last.digits, first.after);
    else
      next = i + 1, text += names[i];
    i = next;
  }
  return text;
}

}  // namespace weft::topology
