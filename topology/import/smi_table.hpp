// One matrix of `nvidia-smi topo`, and what is missing or wrong in it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topology/import/device_matrix.hpp"
#include "topology/import/remarks.hpp"
#include "topology/import/smi_cells.hpp"

namespace weft::topology::smi {

using Legend = std::map<std::string, std::string>;  // "NIC0" -> "mlx5_0"

struct Table {
  std::size_t line = 0;              // of its first line
  std::vector<std::string> columns;  // "?3" where none of header and rows names it
  std::vector<Row> rows;
  bool header = false;
  std::size_t in_header = 0;  // columns that the header names; the others' are cut off
  bool titled = false;        // whether something stands behind the columns
  bool numa_titled = true;    // whether the header has a NUMA column; without a header it may have one
};

bool is_gpu(std::string_view name);
// Whether it says how near devices are; -p2p does not.
bool says_class(const Table& table);

// Whether columns are cut off on the right, or wrapped.
bool is_cut_right(const Table& table);
// Of a table without titles: adds columns for the NICs that the legend alone names, and gives up what may be cut in the
// last cells.
void add_cut_columns(Table& table, const Legend& legend);

// Header, rows, cells and names that are not there.
void find_gaps(const Table& table, const Legend& legend, Remarks& remarks);
// NUMA nodes, CPU lists and classes that do not fit each other.
void compare_places(const DeviceMatrix& matrix, Remarks& remarks);

}  // namespace weft::topology::smi
