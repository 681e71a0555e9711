// The text of an imported file.
#include "topology/import/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "topology/import/import.hpp"
#include "topology/import/line_prefix.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxLines = std::size_t{1} << 16;
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 16;
constexpr char kEscape = '\x1b';

// Where an escape sequence that starts at `at` ends: ESC [ parameters letter, or ESC and one character.
std::size_t after_escape(std::string_view line, std::size_t at) {
  if (at + 1 >= line.size() || line[at + 1] != '[') return std::min(at + 2, line.size());
  at += 2;
  while (at < line.size() && (line[at] < '@' || line[at] > '~')) ++at;
  return std::min(at + 1, line.size());
}

}  // namespace

Status import_error(const std::string& path, std::size_t line, std::string_view reason) {
  return Status(Code::Corrupt,
                line == 0 ? fmt::format("{}: {}", path, reason) : fmt::format("{}:{}: {}", path, line, reason));
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

Status check_source_text(const std::string& path, std::string_view text) {
  if (text.size() > kMaxImportBytes)
    return Status(Code::ResourceExhausted,
                  fmt::format("{}: is {} bytes long; more than {} are not read", path, text.size(), kMaxImportBytes));
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\0') return import_error(path, line_at(text, at), "holds a zero byte; it is not text");
    const std::size_t bytes = character_bytes(text.substr(at));
    if (bytes == 0) return import_error(path, line_at(text, at), "is not UTF-8; convert it with iconv");
    at += bytes;
  }
  return {};
}

std::string plain_line(std::string_view line) {
  constexpr std::string_view kNoBreakBlank = "\xc2\xa0";
  std::string plain;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == kEscape) {
      at = after_escape(line, at);
    } else if (line.substr(at).starts_with(kNoBreakBlank)) {
      plain += ' ';
      at += kNoBreakBlank.size();
    } else {
      if (line[at] != '\r') plain += line[at];
      ++at;
    }
  }
  return plain;
}

std::optional<std::size_t> line_of_xml(const std::vector<std::string>& lines) {
  constexpr std::string_view kBeginnings[] = {"<?xml", "<!DOCTYPE", "<topology", "<system"};
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (std::string_view beginning : kBeginnings)
      if (lines[i].find(beginning) != std::string::npos) return i + 1;
  return std::nullopt;
}

namespace {

// Without a prefix that all share.
std::vector<std::string> split_lines(std::string_view text, std::size_t most = std::string_view::npos) {
  const bool cut = text.size() > most;
  text = text.substr(0, most);
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(plain_line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (cut && lines.size() > 1) lines.pop_back();  // not a whole one
  strip_shared_prefix(lines);
  return lines;
}

std::vector<std::string> words_of_rank(const LabelledLines& rank) {
  std::vector<std::string> lines;
  for (const auto& [at, line] : rank.lines)
    if (!trim(line).empty()) lines.push_back(line);
  strip_shared_prefix(lines);
  return lines;
}

// Launchers mix what the ranks of several hosts print; those of one host print the same.
Status check_ranks(const std::string& path, const std::vector<LabelledLines>& ranks) {
  if (ranks.empty()) return {};
  const auto shown = [](const LabelledLines& rank) {
    constexpr std::size_t kShownBytes = 32;
    return as_plain_text(std::string_view(rank.label).substr(0, kShownBytes));
  };
  const std::vector<std::string> first = words_of_rank(ranks.front());
  for (const LabelledLines& rank : ranks)
    if (words_of_rank(rank) != first)
      return import_error(path, rank.lines.front().first + 1,
                          fmt::format("behind \"{}\" stands another text than behind \"{}\": give what each rank "
                                      "printed in a file of its own",
                                      shown(rank), shown(ranks.front())));
  return {};
}

}  // namespace

Status check_report_lines(const std::string& path, std::string_view text) {
  const std::string_view whole = text;
  std::size_t line = 0;
  while (!text.empty()) {
    const std::size_t bytes = std::min(text.find('\n'), text.size());
    if (++line > kMaxLines) return import_error(path, line, fmt::format("has more than {} lines", kMaxLines));
    if (bytes > kMaxLineBytes)
      return import_error(path, line,
                          fmt::format("a line of {} bytes; more than {} are not read", bytes, kMaxLineBytes));
    text.remove_prefix(std::min(bytes + 1, text.size()));
  }
  return check_ranks(path, lines_by_label(split_lines(whole)));
}

std::vector<std::string> plain_lines(std::string_view text, std::size_t most) {
  std::vector<std::string> lines = split_lines(text, most);
  const std::vector<LabelledLines> ranks = lines_by_label(lines);
  if (ranks.empty()) return lines;
  for (std::string& line : lines) line.clear();
  for (const auto& [at, line] : ranks.front().lines) lines[at] = line;
  strip_shared_prefix(lines);
  return lines;
}

}  // namespace weft::topology
