// What is missing or wrong in a matrix of `nvidia-smi topo`.
#include "topology/import/smi_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/plural.hpp"
#include "topology/cpu_set.hpp"

namespace weft::topology::smi {
namespace {

// "GPU4, GPU5, GPU6, GPU7 and 8 more"
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  const std::size_t shown = std::min(names.size(), kShown);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

void find_missing_rows(const Table& table, Remarks& remarks) {
  std::set<std::string> seen;
  for (const Row& row : table.rows) seen.insert(row.label);
  std::vector<std::string> gpus;
  std::vector<std::string> nics;
  for (const std::string& column : table.columns)
    if (!seen.contains(column) && !(table.header && column.front() == kUnnamed))
      (is_gpu(column) ? gpus : nics).push_back(column);
  const std::size_t last = table.rows.empty() ? table.line : table.rows.back().line;
  if (!gpus.empty())
    remarks.incomplete(last, fmt::format("the rows of {} are missing: the text is cut", names_text(gpus)));
  if (!nics.empty())
    remarks.incomplete(
        last, fmt::format("the rows of {} are missing: how they reach each other is unknown", names_text(nics)));
}

bool is_empty(const Cell& cell) { return !cell.self && !cell.path_class && cell.nvlinks == 0; }

// Of a matrix that says classes: cells without one. Those that are cut off are told of the table.
void find_missing_cells(const Table& table, Remarks& remarks) {
  for (const Row& row : table.rows) {
    auto end = row.cells.end();
    while (is_cut_right(table) && end != row.cells.begin() && (is_empty(*(end - 1)) || (end - 1)->self)) --end;
    const auto missing = std::count_if(row.cells.begin(), end, is_empty);
    if (missing > 0)
      remarks.incomplete(row.line,
                         fmt::format("the row of {} lacks {} of {} cells", row.label, missing, row.cells.size()));
  }
}

void find_missing_names(const Table& table, const Legend& legend, Remarks& remarks) {
  std::vector<std::string> unnamed;
  for (const std::string& column : table.columns)
    if (column.starts_with("NIC") && numbered_name(column) == column && !legend.contains(column))
      unnamed.push_back(column);
  if (!unnamed.empty()) remarks.incomplete(0, fmt::format("the NIC legend does not name {}", names_text(unnamed)));
}

void tell_of_cut(const Table& table, Remarks& remarks) {
  const auto named = static_cast<std::ptrdiff_t>(table.in_header);
  std::vector<std::string> names(table.columns.begin() + named, table.columns.end());
  const std::string whose = names.empty() ? std::string("of more devices") : "of " + names_text(names);
  remarks.incomplete(table.line,
                     fmt::format("the table is cut or wrapped on the right: the columns {} are missing, and "
                                 "what they say is unknown where their rows do not say it",
                                 whose));
}

// Where a device is said to be, if both its NUMA node and its CPUs are told.
struct Place {
  const DeviceMatrix::Device* device;
  int numa;
  std::vector<CpuRange> cpus;  // by their first
  std::size_t count;
};

std::vector<Place> places_of(const DeviceMatrix& matrix) {
  std::vector<Place> places;
  for (const DeviceMatrix::Device& device : matrix.devices) {
    if (device.numa.size() != 1 || device.cpus.empty()) continue;
    std::vector<CpuRange> cpus = parse_cpu_list(device.cpus);
    std::sort(cpus.begin(), cpus.end(), [](const CpuRange& a, const CpuRange& b) { return a.first < b.first; });
    places.push_back({&device, device.numa.front(), std::move(cpus), count_cpus(device.cpus)});
  }
  return places;
}

bool share_cpus(const Place& a, const Place& b) {
  auto one = a.cpus.begin();
  auto other = b.cpus.begin();
  while (one != a.cpus.end() && other != b.cpus.end()) {
    if (one->first <= other->last && other->first <= one->last) return true;
    one->last < other->last ? ++one : ++other;
  }
  return false;
}

void compare_pair(const Place& one, const Place& other, Remarks& remarks) {
  const std::string& cpus = one.device->cpus;
  if (one.numa == other.numa && cpus != other.device->cpus && !share_cpus(one, other))
    remarks.contradiction(0, fmt::format("{} and {} are on NUMA node {}, but near different CPUs, {} and {}",
                                         one.device->name, other.device->name, one.numa, cpus, other.device->cpus));
  if (one.numa != other.numa && one.count > 1 && cpus == other.device->cpus)
    remarks.contradiction(0, fmt::format("{} and {} are near the same CPUs, {}, but on the NUMA nodes {} and {}",
                                         one.device->name, other.device->name, cpus, one.numa, other.numa));
}

// The text has no NUMA node of a NIC, but what is nearer than SYS is on the NUMA node of the GPU.
void compare_nics(const DeviceMatrix& matrix, Remarks& remarks) {
  std::map<int, std::map<int, std::string>> near;  // by NIC and NUMA node the first GPU there
  for (const auto& [pair, relation] : matrix.between) {
    const auto& gpu = matrix.devices[static_cast<std::size_t>(pair.first)];
    const auto& nic = matrix.devices[static_cast<std::size_t>(pair.second)];
    if (nic.kind != NodeKind::Nic || gpu.kind != NodeKind::Gpu || gpu.numa.size() != 1) continue;
    if (relation.path_class && *relation.path_class < PathClass::Sys)
      near[pair.second].try_emplace(gpu.numa.front(), gpu.name);
  }
  std::erase_if(near, [](const auto& one) { return one.second.size() < 2; });
  if (near.empty()) return;
  std::vector<std::string> nics;
  for (const auto& [nic, unused] : near) nics.push_back(matrix.devices[static_cast<std::size_t>(nic)].name);
  const auto first = near.begin()->second.begin();
  const auto second = std::next(first);
  remarks.contradiction(
      0, fmt::format("{} {} nearer than SYS to {} and {}, which are on the NUMA nodes {} and {}", names_text(nics),
                     nics.size() == 1 ? "is" : "are", first->second, second->second, first->first, second->first));
}

}  // namespace

bool is_gpu(std::string_view name) { return name.starts_with("GPU"); }

bool says_class(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(), [](const Row& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [](const Cell& cell) { return cell.path_class || cell.nvlinks > 0; });
  });
}

bool is_cut_right(const Table& table) {
  if (!table.header || table.titled || table.columns.empty()) return false;
  return table.columns.size() > table.in_header || table.columns[table.in_header - 1].front() == kUnnamed;
}

void add_cut_columns(Table& table, const Legend& legend) {
  if (!table.header || table.titled || !says_class(table)) return;
  for (const auto& [name, unused] : legend)
    if (std::find(table.columns.begin(), table.columns.end(), name) == table.columns.end() &&
        table.columns.size() < kMaxMatrixDevices)
      table.columns.push_back(name);
  if (!is_cut_right(table)) return;
  const std::size_t last = table.in_header - 1;
  for (Row& row : table.rows)  // "NV1" of "NV18"; the last device's own row tells it whole
    if (row.cells.size() > last) row.cells[last].nvlinks = 0;
}

void find_gaps(const Table& table, const Legend& legend, Remarks& remarks) {
  if (!table.header)
    remarks.incomplete(table.line, "the header line is missing: columns are known by the X of their rows only");
  if (is_cut_right(table)) tell_of_cut(table, remarks);
  find_missing_rows(table, remarks);
  const bool several = table.columns.size() > 1;
  if (says_class(table))
    find_missing_cells(table, remarks);
  else if (several && !table.rows.empty())
    remarks.incomplete(table.line,
                       "the matrix says whether devices reach each other, not how near they are; give the "
                       "text of nvidia-smi topo -m");
  find_missing_names(table, legend, remarks);
}

void compare_places(const DeviceMatrix& matrix, Remarks& remarks) {
  const auto& devices = matrix.devices;
  const std::vector<Place> places = places_of(matrix);
  for (std::size_t a = 0; a < places.size() && !remarks.full(); ++a)
    for (std::size_t b = a + 1; b < places.size(); ++b) compare_pair(places[a], places[b], remarks);
  for (const auto& [pair, relation] : matrix.between) {
    const auto& one = devices[static_cast<std::size_t>(pair.first)];
    const auto& other = devices[static_cast<std::size_t>(pair.second)];
    if (!relation.path_class || one.numa.size() != 1 || other.numa.size() != 1 || one.numa == other.numa) continue;
    if (*relation.path_class < PathClass::Sys && !remarks.full())
      remarks.contradiction(0, fmt::format("{} and {} are {}, but on the NUMA nodes {} and {}", one.name, other.name,
                                           to_string(*relation.path_class), one.numa.front(), other.numa.front()));
  }
  if (!remarks.full()) compare_nics(matrix, remarks);
}

}  // namespace weft::topology::smi
