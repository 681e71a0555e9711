// The words of `nvidia-smi topo`: cells, device names, and rows in which words are glued together or missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/graph.hpp"

namespace weft::topology::smi {

struct Cell {
  bool self = false;
  std::optional<PathClass> path_class;
  int nvlinks = 0;

  bool operator==(const Cell&) const = default;
};
// A cell that is empty, lost, or says something else (the status words of -p2p).
inline constexpr Cell kNoCell = {};

// The cells that `word` starts with ("NV4SYS" has two); what is behind them stays in it.
std::vector<Cell> take_cells(std::string_view& word);
// "GPU12", "NIC3", "mlx5_0" at the start of a word; empty if there is none. Other device names are whole words.
std::string_view numbered_name(std::string_view word);
// The names above the columns; empty if the line is no such header. kUnnamed and a number for the last if it is cut.
inline constexpr char kUnnamed = '?';
std::vector<std::string> columns_of(std::string_view line);
// Whether a header goes on behind the devices: then it is not cut within them.
bool has_titles(std::string_view line);

struct Row {
  std::size_t line = 0;  // of the text; set by whoever knows
  std::string label;
  std::vector<Cell> cells;              // as many as there are columns, where these are known
  std::vector<std::string> affinities;  // what stands behind the cells, field by field
};
// One row below that header; no columns: there was no header. Nothing if the line is no row.
std::optional<Row> row_of(std::string_view line, const std::vector<std::string>& columns);
// The row of a device whose column is not among these, since the header is cut before it; adds its column.
std::optional<Row> row_beyond(std::string_view line, std::vector<std::string>& columns);

}  // namespace weft::topology::smi
