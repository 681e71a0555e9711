// Finds out whether all lines begin alike.
#include "topology/import/line_prefix.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr int kMaxPrefixes = 4;  // before one another

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_label_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
}
bool is_time_part(char c) { return is_digit(c) || std::string_view("T:.,+-/Z").find(c) != std::string_view::npos; }

// With the blank behind it, if there is one; a tab is the text's own.
std::size_t with_blank(std::string_view line, std::size_t at) {
  return at < line.size() && line[at] == ' ' ? at + 1 : at;
}

// The bytes of a prefix; 0 if the line does not begin with one.
std::size_t quote_bytes(std::string_view line) { return line.starts_with('>') ? with_blank(line, 1) : 0; }

std::size_t label_bytes(std::string_view line) {
  if (line.starts_with('[')) {  // of mpirun --tag-output
    const std::size_t end = line.find(">:");
    const bool tagged = end != std::string_view::npos && line.find("]<std") < end;
    return tagged ? end + 2 : 0;
  }
  const auto end = static_cast<std::size_t>(std::find_if_not(line.begin(), line.end(), is_label_part) - line.begin());
  if (end == 0 || end == line.size() || line[end] != ':') return 0;
  const bool alone = end + 1 == line.size() || line[end + 1] == ' ' || line[end + 1] == '\t';
  return alone ? with_blank(line, end + 1) : 0;
}

// "2024-05-01T12:00:00Z", "2024-05-01", "12:00:00.5".
std::size_t time_word_bytes(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_time_part);
  const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  const auto signs = [&](char sign) { return std::count(word.begin(), word.end(), sign); };
  const bool time = !word.empty() && is_digit(word.front()) && (signs(':') > 1 || signs('-') > 1 || signs('/') > 1);
  return time ? word.size() : 0;
}

// Date and time, or one of them; in brackets or not.
std::size_t time_bytes(std::string_view line) {
  const bool bracket = line.starts_with('[');
  std::size_t at = bracket ? 1 : 0;
  const std::size_t first = time_word_bytes(line.substr(at));
  if (first == 0) return 0;
  at += first;
  if (at < line.size() && line[at] == ' ')
    if (const std::size_t second = time_word_bytes(line.substr(at + 1)); second > 0) at += 1 + second;
  if (bracket && (at == line.size() || line[at++] != ']')) return 0;
  const bool alone = at == line.size() || line[at] == ' ' || line[at] == '\t';
  return alone ? with_blank(line, at) : 0;
}

struct Form {
  std::size_t (*bytes)(std::string_view line);
  bool same;  // whether it is the same text on all lines
};
constexpr Form kForms[] = {{quote_bytes, false}, {label_bytes, true}, {time_bytes, false}};

bool strip_form(const Form& form, std::vector<std::string>& lines) {
  std::optional<std::string> first;
  std::size_t found = 0;
  for (const std::string& line : lines) {
    if (trim(line).empty()) continue;
    const std::size_t bytes = form.bytes(line);
    if (bytes == 0) return false;
    const std::string_view prefix = trim(std::string_view(line).substr(0, bytes));
    if (!first) first = prefix;
    if (form.same && *first != prefix) return false;
    ++found;
  }
  if (found < 2) return false;
  for (std::string& line : lines)
    if (!trim(line).empty()) line.erase(0, form.bytes(line));
  return true;
}

}  // namespace

void strip_shared_prefix(std::vector<std::string>& lines) {
  for (int i = 0; i < kMaxPrefixes; ++i)
    if (std::none_of(std::begin(kForms), std::end(kForms), [&](const Form& form) { return strip_form(form, lines); }))
      return;
}

std::vector<LabelledLines> lines_by_label(const std::vector<std::string>& lines) {
  std::vector<LabelledLines> ranks;
  std::map<std::string, std::size_t, std::less<>> rank_of;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (trim(lines[i]).empty()) continue;
    const std::size_t bytes = label_bytes(lines[i]);
    if (bytes == 0) return {};
    const std::string_view label = trim(std::string_view(lines[i]).substr(0, bytes));
    const auto [found, fresh] = rank_of.try_emplace(std::string(label), ranks.size());
    if (fresh) ranks.push_back({std::string(label), {}});
    ranks[found->second].lines.emplace_back(i, lines[i].substr(bytes));
  }
  return ranks.size() > 1 ? std::move(ranks) : std::vector<LabelledLines>();
}

}  // namespace weft::topology
