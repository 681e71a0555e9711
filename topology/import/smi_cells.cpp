// The words of `nvidia-smi topo`.
#include "topology/import/smi_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "topology/import/device_matrix.hpp"
#include "topology/import/source_text.hpp"

namespace weft::topology::smi {
namespace {

constexpr int kMaxNvLinks = 64;
constexpr std::size_t kMaxAffinities = 8;  // columns that stand behind the cells

struct ClassWord {
  std::string_view word;
  std::optional<PathClass> path_class;
};
// Drivers before 396 say SOC for SYS. The status words of -p2p say whether, not how near.
constexpr ClassWord kClassWords[] = {
    {"NODE", PathClass::Node},
    {"PIX", PathClass::Pix},
    {"PXB", PathClass::Pxb},
    {"PHB", PathClass::Phb},
    {"SYS", PathClass::Sys},
    {"SOC", PathClass::Sys},
    {"OK", {}},
    {"CNS", {}},
    {"GNS", {}},
    {"TNS", {}},
    {"NS", {}},
    {"DR", {}},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

std::optional<Cell> take_nvlinks(std::string_view& word) {
  if (!word.starts_with("NV") || digits_at(word, 2) == 0) return std::nullopt;
  Cell cell;
  const char* end = word.data() + 2 + digits_at(word, 2);
  const auto [stop, error] = std::from_chars(word.data() + 2, end, cell.nvlinks);
  if (error != std::errc() || cell.nvlinks < 1 || cell.nvlinks > kMaxNvLinks) return std::nullopt;
  word.remove_prefix(static_cast<std::size_t>(stop - word.data()));
  return cell;
}

std::optional<Cell> take_cell(std::string_view& word) {
  if (std::optional<Cell> cell = take_nvlinks(word)) return cell;
  for (const ClassWord& known : kClassWords)
    if (word.starts_with(known.word)) {
      word.remove_prefix(known.word.size());
      return Cell{false, known.path_class, 0};
    }
  if (!word.starts_with('X')) return std::nullopt;
  word.remove_prefix(1);
  return Cell{true, {}, 0};
}

// What may be glued behind cells: a CPU list, or "N/A".
bool is_affinity(std::string_view word) { return !word.empty() && (is_digit(word.front()) || word == "N/A"); }

// The cells of a word, and what affinity is glued behind them; nothing if it is no such word.
struct Split {
  std::vector<Cell> cells;
  std::string_view rest;
};
std::optional<Split> split(std::string_view word) {
  Split parts;
  parts.cells = take_cells(word);
  parts.rest = word;
  if (parts.cells.empty() || (!word.empty() && !is_affinity(word))) return std::nullopt;
  return parts;
}

// The name of a row, and what is glued behind it.
std::pair<std::string_view, std::string_view> label_of(std::string_view word, const std::vector<std::string>& columns) {
  std::string_view best;
  for (const std::string& column : columns) {
    if (column.size() <= best.size() || !word.starts_with(column)) continue;
    if (column.size() == word.size() || split(word.substr(column.size()))) best = word.substr(0, column.size());
  }
  if (best.empty()) best = numbered_name(word);
  if (best.empty() && columns.empty()) best = word;
  return {best, word.substr(best.size())};
}

std::vector<std::string_view> fields_of(std::string_view text) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t tab = std::min(text.find('\t'), text.size());
    fields.push_back(text.substr(0, tab));
    if (tab == text.size()) return fields;
    text.remove_prefix(tab + 1);
  }
}

void add_affinity(Row& row, std::string_view word) {
  if (row.affinities.size() < kMaxAffinities) row.affinities.emplace_back(word);
}

// Adds the cells at the start of a field; the rest is affinity. False if the field does not start with a cell.
bool take_field(std::string_view field, Row& row) {
  const std::vector<std::string_view> words = words_of(field);
  std::size_t used = 0;
  for (; used < words.size(); ++used) {
    const std::optional<Split> parts = split(words[used]);
    if (!parts) break;
    row.cells.insert(row.cells.end(), parts->cells.begin(), parts->cells.end());
    if (parts->rest.empty()) continue;
    add_affinity(row, parts->rest);
    ++used;
    break;
  }
  if (used == 0) return false;
  for (; used < words.size(); ++used) add_affinity(row, words[used]);
  return true;
}

// Field by field: an empty field is an empty cell.
Row by_tabs(std::string_view text, std::size_t columns) {
  Row row;
  std::vector<std::string_view> fields = fields_of(text);
  if (!fields.empty() && words_of(fields.front()).empty()) fields.erase(fields.begin());  // the label's own tab
  for (std::string_view field : fields) {
    const std::vector<std::string_view> words = words_of(field);
    if (row.affinities.empty() && !words.empty() && take_field(field, row)) continue;
    if (row.affinities.empty() && words.empty() && row.cells.size() < columns) {
      row.cells.push_back(kNoCell);
      continue;
    }
    if (words.empty()) add_affinity(row, {});
    for (std::string_view word : words) add_affinity(row, word);
  }
  return row;
}

// Word by word, where there are no tabs to tell what is missing.
Row by_words(std::string_view text) {
  Row row;
  if (!take_field(text, row))
    for (std::string_view word : words_of(text)) add_affinity(row, word);
  return row;
}

std::optional<std::size_t> self_of(const Row& row) {
  const auto found = std::find_if(row.cells.begin(), row.cells.end(), [](const Cell& cell) { return cell.self; });
  if (found == row.cells.end()) return std::nullopt;
  return static_cast<std::size_t>(found - row.cells.begin());
}

// Puts the cells below their columns. The X tells where the row is; cells of which that does not tell the place are
// given up, they stand in the other device's row as well.
void align(Row& row, std::size_t own, std::size_t columns) {
  const std::vector<Cell> found = std::exchange(row.cells, std::vector<Cell>(columns, kNoCell));
  const auto end = static_cast<std::ptrdiff_t>(found.size());
  const auto self_at = std::find_if(found.begin(), found.end(), [](const Cell& cell) { return cell.self; });
  const std::ptrdiff_t self = self_at - found.begin();
  const auto mine = static_cast<std::ptrdiff_t>(own);
  const auto all = static_cast<std::ptrdiff_t>(columns);
  // A cut row ends in its cells, perhaps within the last one: "SY", or "NV1" of "NV18".
  const bool cut = std::none_of(row.affinities.begin(), row.affinities.end(),
                                [](const std::string& word) { return word.empty() || is_affinity(word); });
  if (self == end) {  // cut before its X
    if (cut && end <= mine) std::copy(found.begin(), found.end(), row.cells.begin());
    return;
  }
  if (self == mine) std::copy(found.begin(), found.begin() + self, row.cells.begin());
  row.cells[own].self = true;
  const std::ptrdiff_t behind = end - self - 1;
  const bool complete = behind == all - mine - 1;
  if (!complete && !(cut && self == mine && behind < all - mine)) return;
  std::copy(found.begin() + self + 1, found.end(), row.cells.begin() + mine + 1);
  if (!complete && behind > 0) row.cells[static_cast<std::size_t>(mine + behind)].nvlinks = 0;
}

// A list of CPUs may have blanks behind its commas.
void join_lists(std::vector<std::string>& affinities) {
  for (std::size_t i = 0; i + 1 < affinities.size();) {
    if (affinities[i].ends_with(',') && !affinities[i + 1].empty() && is_digit(affinities[i + 1].front())) {
      affinities[i] += affinities[i + 1];
      affinities.erase(affinities.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else {
      ++i;
    }
  }
}

bool is_title(std::string_view word) {
  return word.starts_with("CPU") || word.starts_with("NUMA") || word == "GPU" || word.starts_with("Affinity");
}

// The last word of a header that was cut within it: "NI", or "NIC1" of "NIC10", which stands there already.
bool is_cut_name(std::string_view word, const std::vector<std::string>& columns) {
  if (columns.size() < 2) return false;
  if (std::find(columns.begin(), columns.end(), word) != columns.end()) return true;
  constexpr std::string_view kNames[] = {"GPU", "NIC", "mlx5_"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [word](std::string_view name) { return name.starts_with(word); });
}

// Header words that have lost the tab between them.
void add_unglued(std::string_view word, std::vector<std::string_view>& words) {
  while (!word.empty()) {
    std::string_view name = numbered_name(word);
    const std::string_view behind = word.substr(name.size());
    if (name.empty() || (numbered_name(behind).empty() && !is_title(behind))) name = word;
    words.push_back(name);
    word.remove_prefix(name.size());
  }
}

}  // namespace

std::vector<Cell> take_cells(std::string_view& word) {
  std::vector<Cell> cells;
  while (cells.size() <= kMaxMatrixDevices) {
    const std::optional<Cell> cell = take_cell(word);
    if (!cell) break;
    cells.push_back(*cell);
  }
  return cells;
}

std::string_view numbered_name(std::string_view word) {
  for (std::string_view prefix : {"GPU", "NIC"})
    if (word.starts_with(prefix))
      if (const std::size_t digits = digits_at(word, prefix.size()); digits > 0)
        return word.substr(0, prefix.size() + digits);
  if (!word.starts_with("mlx")) return {};
  const std::size_t generation = digits_at(word, 3);
  const std::size_t bar = 3 + generation;
  if (generation == 0 || bar >= word.size() || word[bar] != '_') return {};
  const std::size_t number = digits_at(word, bar + 1);
  return number > 0 ? word.substr(0, bar + 1 + number) : std::string_view();
}

std::vector<std::string> columns_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::string_view word : words_of(line)) add_unglued(word, words);
  if (words.empty() || !words.front().starts_with("GPU") || numbered_name(words.front()) != words.front()) return {};
  std::vector<std::string> columns;
  for (std::string_view word : words) {
    if (is_title(word)) break;
    if (word.data() == words.back().data() && is_cut_name(word, columns)) {
      columns.push_back(fmt::format("{}{}", kUnnamed, columns.size()));
      break;
    }
    std::string_view rest = word;
    if (!take_cells(rest).empty() || std::none_of(word.begin(), word.end(), is_digit)) return {};
    if (word.find_first_of(":,;=()") != std::string_view::npos) return {};
    if (std::find(columns.begin(), columns.end(), word) != columns.end()) return {};
    columns.emplace_back(word);
    if (columns.size() > kMaxMatrixDevices) break;  // refused by their number
  }
  return columns;
}

bool has_titles(std::string_view line) {
  return line.find("CPU") != std::string_view::npos || line.find("NUMA") != std::string_view::npos ||
         line.find("Affinity") != std::string_view::npos;
}

std::optional<Row> row_beyond(std::string_view line, std::vector<std::string>& columns) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() < 2 || columns.size() > kMaxMatrixDevices) return std::nullopt;
  const std::string_view label = numbered_name(words[0]);
  if (label.empty() || label != words[0] || !split(words[1])) return std::nullopt;
  if (std::find(columns.begin(), columns.end(), label) != columns.end()) return std::nullopt;
  columns.emplace_back(label);
  return row_of(line, columns);
}

std::optional<Row> row_of(std::string_view line, const std::vector<std::string>& columns) {
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos) return std::nullopt;
  const std::string_view first = line.substr(start, line.find_first_of(" \t", start) - start);
  const auto [label, glued] = label_of(first, columns);
  std::string_view as_cells = label;
  if (label.empty() || !take_cells(as_cells).empty()) return std::nullopt;
  const std::string_view text = line.substr(start + label.size());
  const auto place = std::find(columns.begin(), columns.end(), label);
  if (!columns.empty() && place == columns.end()) return std::nullopt;
  const auto own = static_cast<std::size_t>(place - columns.begin());
  Row row;
  if (text.find('\t') != std::string_view::npos) row = by_tabs(text, columns.size());
  if (row.cells.size() < columns.size() || self_of(row) != own) row = by_words(text);
  if (row.cells.empty() || (columns.empty() && !self_of(row))) return std::nullopt;
  if (!columns.empty()) align(row, own, columns.size());
  join_lists(row.affinities);
  row.label = label;
  return row;
}

}  // namespace weft::topology::smi
