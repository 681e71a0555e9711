// `nvidia-smi topo -m`: finds the matrix in the text around it and makes a graph of it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/cpu_set.hpp"
#include "topology/import/device_matrix.hpp"
#include "topology/import/import.hpp"
#include "topology/import/remarks.hpp"
#include "topology/import/smi_cells.hpp"
#include "topology/import/smi_table.hpp"
#include "topology/import/source_text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 16;  // within which the matrix begins
constexpr int kMaxNumaNodes = 64;                         // that one device is said to be near

struct Line {
  std::size_t number;
  std::string text;
};

// Without a header the X tells which column a row's device has. Columns without a row have no name and are left out.
void find_columns(smi::Table& table, const std::vector<Line>& lines) {
  const std::vector<smi::Row> rows = std::exchange(table.rows, {});
  std::map<std::size_t, std::string> label_of;
  std::size_t count = 0;
  for (const smi::Row& row : rows) {
    const auto self = std::find_if(row.cells.begin(), row.cells.end(), [](const smi::Cell& cell) { return cell.self; });
    label_of[static_cast<std::size_t>(self - row.cells.begin())] = row.label;
    count = std::max(count, row.cells.size());
  }
  if (count > kMaxMatrixDevices) count = kMaxMatrixDevices + 1;  // refused by its number
  for (std::size_t i = 0; i < count; ++i)
    table.columns.push_back(label_of.contains(i) ? label_of[i] : fmt::format("?{}", i));
  for (const Line& line : lines)
    if (std::optional<smi::Row> row = smi::row_of(line.text, table.columns)) {
      row->line = line.number;
      table.rows.push_back(std::move(*row));
    }
}

// A row that was cut behind its label reads like a header of one device.
bool is_row_without_cells(const std::vector<std::string>& columns, const std::vector<smi::Table>& tables) {
  if (columns.size() != 1 || tables.empty()) return false;
  const std::vector<std::string>& known = tables.back().columns;
  return std::find(known.begin(), known.end(), columns.front()) != known.end();
}

// The tables of the text: each header starts one, rows go to the latest.
std::vector<smi::Table> tables_of(const std::vector<std::string>& lines) {
  std::vector<smi::Table> tables;
  std::vector<Line> headerless;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::vector<std::string> columns = smi::columns_of(lines[i]);
        !columns.empty() && !is_row_without_cells(columns, tables)) {
      smi::Table& table = tables.emplace_back();
      table.line = i + 1;
      table.header = true;
      table.in_header = columns.size();
      table.columns = std::move(columns);
      table.titled = smi::has_titles(lines[i]);
      table.numa_titled = lines[i].find("NUMA Affinity") != std::string::npos;
      continue;
    }
    const bool under_header = !tables.empty() && tables.back().header;
    std::optional<smi::Row> row =
        smi::row_of(lines[i], under_header ? tables.back().columns : std::vector<std::string>());
    if (!row && under_header && !tables.back().titled) row = smi::row_beyond(lines[i], tables.back().columns);
    if (!row || (!under_header && smi::numbered_name(row->label).empty())) continue;
    if (tables.empty()) tables.emplace_back().line = i + 1;
    row->line = i + 1;
    tables.back().rows.push_back(std::move(*row));
    if (!under_header) headerless.push_back({i + 1, lines[i]});
  }
  if (!headerless.empty()) find_columns(tables.front(), headerless);
  return tables;
}

// Of other hosts, or of this one at another time. A copy says nothing more.
void tell_of_others(const std::vector<smi::Table>& tables, const smi::Table& read, Remarks& remarks) {
  const auto same = [](const smi::Row& a, const smi::Row& b) { return a.label == b.label && a.cells == b.cells; };
  for (const smi::Table& table : tables) {
    if (&table == &read || !smi::says_class(table)) continue;
    if (table.columns == read.columns &&
        std::equal(table.rows.begin(), table.rows.end(), read.rows.begin(), read.rows.end(), same))
      continue;
    remarks.incomplete(table.line,
                       fmt::format("another table begins here, which is not read: that of line {} is; give each in a "
                                   "file of its own",
                                   read.line));
  }
}

// "  NIC0: mlx5_1"
smi::Legend legend_of(const std::vector<std::string>& lines) {
  smi::Legend legend;
  for (const std::string& line : lines) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() == 2 && words[0].starts_with("NIC") && words[0].ends_with(':'))
      legend.emplace(words[0].substr(0, words[0].size() - 1), as_node_name(words[1]));
  }
  return legend;
}

std::vector<int> numa_of(std::string_view text) {
  std::vector<int> nodes;
  for (const CpuRange& range : parse_cpu_list(text))
    for (int node = range.first; node <= range.last; ++node) {
      if (nodes.size() == kMaxNumaNodes) return {};
      nodes.push_back(node);
    }
  return nodes;
}

class MatrixOfTable {
 public:
  MatrixOfTable(const smi::Table& table, const smi::Legend& legend, Remarks& remarks)
      : table_(table), remarks_(remarks) {
    add_devices(true, legend);
    add_devices(false, legend);
  }

  DeviceMatrix read() {
    // Where rows of GPUs are missing the text was cut, perhaps within the numbers of its last line.
    const auto gpus = std::count_if(table_.columns.begin(), table_.columns.end(), smi::is_gpu);
    const auto rows = std::count_if(table_.rows.begin(), table_.rows.end(),
                                    [](const smi::Row& row) { return smi::is_gpu(row.label); });
    for (const smi::Row& row : table_.rows) {
      const auto own = position_.find(row.label);
      if (own == position_.end()) continue;
      add_cells(own->second, row);
      if (!smi::is_gpu(row.label)) continue;
      if (rows >= gpus || &row != &table_.rows.back())
        add_affinity(own->second, row);
      else if (!row.affinities.empty())
        remarks_.incomplete(row.line, fmt::format("the text is cut behind {}: its CPUs may be, too", row.label));
    }
    return std::move(matrix_);
  }

 private:
  void add_devices(bool gpus, const smi::Legend& legend) {
    for (const std::string& column : table_.columns) {
      if (smi::is_gpu(column) != gpus || column.starts_with('?')) continue;
      position_.emplace(column, static_cast<int>(matrix_.devices.size()));
      DeviceMatrix::Device& device = matrix_.devices.emplace_back();
      device.kind = gpus ? NodeKind::Gpu : NodeKind::Nic;
      device.name = as_node_name(column);
      if (gpus) device.name.replace(0, 3, "gpu");
      if (const auto named = legend.find(column); named != legend.end()) device.name = named->second;
    }
  }

  // A pair stands in the matrix twice; what is said first holds.
  void add_cells(int own, const smi::Row& row) {
    for (std::size_t i = 0; i < row.cells.size() && i < table_.columns.size(); ++i) {
      const auto other = position_.find(table_.columns[i]);
      const smi::Cell& cell = row.cells[i];
      if (other == position_.end() || other->second == own || (!cell.path_class && cell.nvlinks == 0)) continue;
      const auto [found, fresh] = matrix_.between.try_emplace(
          std::minmax(own, other->second), DeviceMatrix::Relation{cell.path_class, cell.nvlinks, false});
      if (fresh || (found->second.path_class == cell.path_class && found->second.nvlinks == cell.nvlinks)) continue;
      remarks_.contradiction(row.line, fmt::format("{} to {} is {}, but {} to {} is {}", row.label, table_.columns[i],
                                                   word_of(cell.path_class, cell.nvlinks), table_.columns[i], row.label,
                                                   word_of(found->second.path_class, found->second.nvlinks)));
    }
  }

  static std::string word_of(std::optional<PathClass> path_class, int nvlinks) {
    return path_class ? std::string(to_string(*path_class)) : fmt::format("NV{}", nvlinks);
  }

  void add_affinity(int own, const smi::Row& row) {
    DeviceMatrix::Device& device = matrix_.devices[static_cast<std::size_t>(own)];
    if (!row.affinities.empty()) {
      // A list that ends in a comma was cut.
      const std::string& list = row.affinities[0];
      if (list.ends_with(','))
        device.cpus = completed(row);
      else if (!parse_cpu_list(list).empty())
        device.cpus = list;
    }
    if (row.affinities.size() > 1 && table_.numa_titled) device.numa = numa_of(row.affinities[1]);
  }

  // GPUs of one socket have one list. Where only one list of the others begins so, it is this one.
  std::string completed(const smi::Row& row) {
    std::string whole;
    const std::string& cut = row.affinities[0];
    for (const smi::Row& other : table_.rows) {
      if (other.affinities.empty() || other.affinities[0].ends_with(',')) continue;
      const std::string& list = other.affinities[0];
      if (!list.starts_with(cut) || parse_cpu_list(list).empty() || list == whole) continue;
      if (!whole.empty()) return {};
      whole = list;
    }
    if (!whole.empty())
      remarks_.incomplete(row.line, fmt::format("the CPU list of {}, \"{}\", is cut; taken as {}, the only one that "
                                                "begins so",
                                                row.label, cut, whole));
    else
      remarks_.incomplete(row.line, fmt::format("the CPU list of {}, \"{}\", is cut", row.label, cut));
    return whole;
  }

  const smi::Table& table_;
  Remarks& remarks_;
  DeviceMatrix matrix_;
  std::map<std::string, int> position_;  // in the devices, by column
};

}  // namespace

bool is_nvidia_smi(std::string_view text) { return !tables_of(plain_lines(text, kHeadBytes)).empty(); }

Result<Survey> read_nvidia_smi(const std::string& path, std::string_view text) {
  WEFT_TRY(check_source_text(path, text));
  WEFT_TRY(check_report_lines(path, text));
  const std::vector<std::string> lines = plain_lines(text);
  std::vector<smi::Table> tables = tables_of(lines);
  if (tables.empty()) return import_error(path, 0, "holds no matrix of nvidia-smi topo");
  // The first that says how near devices are: other matrices (-p2p) may stand before and behind it.
  auto table = std::find_if(tables.begin(), tables.end(), smi::says_class);
  if (table == tables.end()) table = tables.begin();
  if (table->columns.size() > kMaxMatrixDevices)
    return import_error(path, table->line, fmt::format("names more than {} devices", kMaxMatrixDevices));
  const smi::Legend legend = legend_of(lines);
  Remarks remarks(path);
  tell_of_others(tables, *table, remarks);
  smi::add_cut_columns(*table, legend);
  smi::find_gaps(*table, legend, remarks);
  remarks.find_xml(lines);
  const DeviceMatrix matrix = MatrixOfTable(*table, legend, remarks).read();
  smi::compare_places(matrix, remarks);
  Survey survey;
  survey.graph = graph_of(matrix);
  if (const Status status = survey.graph.check(); !status.ok())
    return import_error(path, table->line, status.message());
  survey.remarks = remarks.take();
  return survey;
}

}  // namespace weft::topology
