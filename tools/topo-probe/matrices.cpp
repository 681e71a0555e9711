// Path classes and bandwidth between GPUs and NICs.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "report.hpp"
#include "topology/path_finder.hpp"
#include "topology/sources.hpp"

namespace weft::topo_probe {
namespace {

using topology::Graph;
using topology::Link;
using topology::LinkKind;
using topology::NodeKind;
using topology::Path;
using topology::PathClass;
using topology::PathFinder;

std::string class_name(const Graph& graph, const Path& path) {
  if (path.path_class == PathClass::Loc) return "X";
  if (path.path_class == PathClass::Unknown) return std::string(kUnknownClass);
  if (path.path_class != PathClass::Nvl) return std::string(to_string(path.path_class));
  const Link& first = graph.links[static_cast<std::size_t>(path.hops.front().link)];
  if (first.kind == LinkKind::Xgmi) return "XGMI";
  if (first.kind == LinkKind::C2c) return "C2C";
  return fmt::format("NV{}", first.count);
}

// One search for each row, over all columns; `split` of them are for the first matrix, the rest for the second.
std::pair<Matrix, Matrix> make_matrices_of(const Graph& graph, const std::vector<int>& rows,
                                           const std::vector<int>& columns, std::size_t split) {
  const auto middle = columns.begin() + static_cast<std::ptrdiff_t>(split);
  std::pair<Matrix, Matrix> matrices{{rows, {columns.begin(), middle}, {}, {}, {}, {}},
                                     {rows, {middle, columns.end()}, {}, {}, {}, {}}};
  PathFinder finder(graph);
  for (int row : rows) {
    const std::vector<Path> paths = finder.best_paths(row, columns);
    for (Matrix* matrix : {&matrices.first, &matrices.second}) {
      matrix->classes.emplace_back();
      matrix->bandwidth_gbs.emplace_back();
      matrix->latency_us.emplace_back();
      matrix->binding_link.emplace_back();
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
      Matrix& matrix = i < split ? matrices.first : matrices.second;
      matrix.classes.back().push_back(class_name(graph, paths[i]));
      matrix.bandwidth_gbs.back().push_back(paths[i].bandwidth_gbs);
      matrix.latency_us.back().push_back(paths[i].latency_us);
      matrix.binding_link.back().push_back(paths[i].binding_link);
    }
  }
  return matrices;
}

// Links of the graph without links between devices, by their place in the whole graph.
void restore_links(Matrix& matrix, const std::vector<int>& place) {
  for (std::vector<int>& row : matrix.binding_link)
    for (int& link : row)
      if (link >= 0) link = place[static_cast<std::size_t>(link)];
}

}  // namespace

bool is_assumed(const Report& report, const Matrix& matrix, std::size_t row, std::size_t column) {
  const int link = matrix.binding_link[row][column];
  return link >= 0 && matrix.classes[row][column] != kUnknownClass &&
         report.graph.links[static_cast<std::size_t>(link)].source == topology::kAssumed;
}

bool has_assumed(const Report& report, const Matrix& matrix) {
  for (std::size_t row = 0; row < matrix.rows.size(); ++row)
    for (std::size_t column = 0; column < matrix.columns.size(); ++column)
      if (is_assumed(report, matrix, row, column)) return true;
  return false;
}

std::optional<Matrices> make_matrices(const Graph& graph, std::size_t most) {
  const std::vector<int> gpus = graph.ids(NodeKind::Gpu);
  const std::vector<int> nics = graph.ids(NodeKind::Nic);
  if (gpus.size() + nics.size() > most) return std::nullopt;
  Graph pcie_only = graph;
  std::erase_if(pcie_only.links, [](const Link& link) { return topology::is_device_link(link.kind); });
  std::vector<int> place;
  for (std::size_t i = 0; i < graph.links.size(); ++i)
    if (!topology::is_device_link(graph.links[i].kind)) place.push_back(static_cast<int>(i));
  std::vector<int> both = gpus;
  both.insert(both.end(), nics.begin(), nics.end());
  auto [gpu_gpu_pcie, gpu_nic] = make_matrices_of(pcie_only, gpus, both, gpus.size());
  restore_links(gpu_gpu_pcie, place);
  restore_links(gpu_nic, place);
  return Matrices{make_matrices_of(graph, gpus, gpus, gpus.size()).first, std::move(gpu_gpu_pcie), std::move(gpu_nic),
                  make_matrices_of(graph, nics, nics, nics.size()).first};
}

}  // namespace weft::topo_probe
