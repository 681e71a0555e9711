// Path classes and bandwidth between GPUs and NICs.
#include <fmt/format.h>

#include <algorithm>

#include "report.hpp"
#include "topology/path_finder.hpp"

namespace weft::topo_probe {
namespace {

using topology::Graph;
using topology::Link;
using topology::LinkKind;
using topology::NodeKind;
using topology::Path;
using topology::PathClass;
using topology::PathFinder;

bool is_device_link(const Link& link) {
  return link.kind == LinkKind::NvLink || link.kind == LinkKind::Xgmi || link.kind == LinkKind::C2c;
}

std::string class_name(const Graph& graph, const Path& path) {
  if (path.path_class == PathClass::Loc) return "X";
  if (path.path_class == PathClass::Unknown) return std::string(kUnknownClass);
  if (path.path_class != PathClass::Nvl) return std::string(to_string(path.path_class));
  const Link& first = graph.links[static_cast<std::size_t>(path.hops.front().link)];
  if (first.kind == LinkKind::Xgmi) return "XGMI";
  if (first.kind == LinkKind::C2c) return "C2C";
  return fmt::format("NV{}", first.count);
}

Matrix make_matrix(const Graph& graph, const std::vector<int>& rows, const std::vector<int>& columns) {
  PathFinder finder(graph);
  Matrix matrix{rows, columns, {}, {}};
  for (int row : rows) {
    std::vector<std::string> classes;
    std::vector<double> bandwidth;
    for (const Path& path : finder.best_paths(row, columns)) {
      classes.push_back(class_name(graph, path));
      bandwidth.push_back(path.bandwidth_gbs);
    }
    matrix.classes.push_back(std::move(classes));
    matrix.bandwidth_gbs.push_back(std::move(bandwidth));
  }
  return matrix;
}

}  // namespace

std::optional<Matrices> make_matrices(const Graph& graph) {
  const std::vector<int> gpus = graph.ids(NodeKind::Gpu);
  const std::vector<int> nics = graph.ids(NodeKind::Nic);
  if (gpus.size() + nics.size() > kMaxMatrixDevices) return std::nullopt;
  Graph pcie_only = graph;
  std::erase_if(pcie_only.links, is_device_link);
  return Matrices{make_matrix(graph, gpus, gpus), make_matrix(pcie_only, gpus, gpus),
                  make_matrix(pcie_only, gpus, nics), make_matrix(graph, nics, nics)};
}

}  // namespace weft::topo_probe
