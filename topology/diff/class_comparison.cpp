// To NCCL all of a NUMA node hang on one bridge, and it does not know a card's functions.
#include "topology/diff/class_comparison.hpp"

#include <fmt/format.h>

#include <tuple>

namespace weft::topology {
namespace {

constexpr std::size_t kMaxDevices = 1024;  // of one host, whose pairs are compared

Graph without_device_links(Graph graph) {
  std::erase_if(graph.links, [](const Link& link) { return is_device_link(link.kind); });
  return graph;
}

}  // namespace

ClassComparison::PciGraph::PciGraph(const Graph& whole) : graph(without_device_links(whole)), finder(graph) {}

void ClassComparison::compare(const HostMatch& host, const std::map<int, int>& before_to_after, const Tell& tell) {
  std::vector<int> ids;
  std::vector<int> others;
  for (const std::vector<int>* some : {&before_.locality.gpus(host.before), &before_.locality.nics(host.before)})
    for (int id : *some)
      if (const auto match = before_to_after.find(id); match != before_to_after.end()) {
        ids.push_back(id);
        others.push_back(match->second);
      }
  if (ids.size() < 2 || ids.size() > kMaxDevices) return;
  if (!pci_before_) pci_before_.emplace(before_.graph());
  if (!pci_after_) pci_after_.emplace(after_.graph());
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::string>> pairs;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (before_.node(ids[i]).kind != NodeKind::Gpu) continue;
    const std::vector<Path> paths = pci_before_->finder.best_paths(ids[i], ids);
    const std::vector<Path> now = pci_after_->finder.best_paths(others[i], others);
    for (std::size_t j = 0; j < ids.size(); ++j) {
      const bool to_gpu = before_.node(ids[j]).kind == NodeKind::Gpu;
      if (to_gpu && j <= i) continue;
      const std::string a = class_of(paths[j]);
      const std::string b = class_of(now[j]);
      if (a.empty() || b.empty() || a == b) continue;
      pairs[{to_gpu ? "GPU to GPU" : "GPU to NIC", a, b}].push_back(
          fmt::format("{} to {}", before_.node(ids[i]).name, before_.node(ids[j]).name));
    }
  }
  for (const auto& [key, names] : pairs) {
    const auto& [what, a, b] = key;
    const std::string more = names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "";
    tell(names.front() + more, what + " path", a, b);
  }
}

std::string ClassComparison::class_of(const Path& path) const {
  const bool nccl = before_.survey.nccl_version || after_.survey.nccl_version;
  if (path.path_class >= PathClass::Unknown) return {};
  return std::string(to_string(nccl && path.path_class == PathClass::Node ? PathClass::Phb : path.path_class));
}

}  // namespace weft::topology
