// Hosts that are alike, and the tree of one as text.
#include <fmt/format.h>

#include <map>
#include <string>

#include "report.hpp"
#include "topology/export/node_words.hpp"
#include "topology/storage.hpp"

namespace weft::topo_probe {
namespace {

using topology::Link;
using topology::Node;
using topology::NodeKind;

class TreeWriter {
 public:
  explicit TreeWriter(const topology::Locality& locality)
      : locality_(locality), storage_(locality.graph()), children_(locality.graph().nodes.size()) {
    for (const Node& node : locality.graph().nodes)
      if (node.parent >= 0 && !storage_.contains(node.id))
        children_[static_cast<std::size_t>(node.parent)].push_back(node.id);
    for (const Link& link : locality.graph().links)
      if (topology::is_device_link(link.kind)) device_links_[locality.node(link.a).host].push_back(&link);
  }

  // Without the machine's own name, so that like hosts give like text.
  std::string host_text(int machine) const {
    std::string text;
    for (int child : children_[static_cast<std::size_t>(machine)]) write(child, 1, text);
    write_storage(machine, 1, text);
    const auto found = device_links_.find(locality_.node(machine).host);
    if (found != device_links_.end()) text += links_text(found->second);
    return text;
  }

 private:
  void write(int node, std::size_t depth, std::string& text) const {
    text += std::string(2 * depth, ' ') + topology::describe_node(locality_.node(node), locality_) + "\n";
    for (int child : children_[static_cast<std::size_t>(node)]) write(child, depth + 1, text);
    write_storage(node, depth + 1, text);
  }

  // One line for all that hangs there: "16 storage devices  nvme0n1, nvme1n1, nvme2n1, nvme3n1 and 12 more".
  void write_storage(int node, std::size_t depth, std::string& text) const {
    const std::vector<int>& storage = storage_.below(node);
    if (storage.empty()) return;
    text += std::string(2 * depth, ' ');
    if (storage.size() == 1)
      text += topology::describe_node(locality_.node(storage.front()), locality_) + "\n";
    else
      text += fmt::format("{}  {}\n", topology::storage_count(storage.size()),
                          topology::storage_names(locality_.graph(), storage));
  }

  // Like links together: "28 NVLink pairs of 64 GB/s".
  std::string links_text(const std::vector<const Link*>& links) const {
    std::map<std::string, int> kinds;
    for (const Link* link : links) {
      const bool fabric =
          locality_.node(link->a).kind == NodeKind::NvSwitch || locality_.node(link->b).kind == NodeKind::NvSwitch;
      ++kinds[fmt::format("{} link{} of {:g} GB/s each way", to_string(link->kind),
                          fabric ? "s to the NVSwitch" : "s between devices", link->bandwidth_gbs)];
    }
    std::string text;
    for (const auto& [words, count] : kinds) text += fmt::format("  {} {}\n", count, words);
    return text;
  }

  const topology::Locality& locality_;
  topology::StorageParts storage_;
  std::vector<std::vector<int>> children_;
  std::map<int, std::vector<const Link*>> device_links_;
};

}  // namespace

std::vector<HostGroup> group_hosts(const Report& report) {
  const TreeWriter writer(report.locality);
  std::map<std::string, std::size_t> group_with;  // text -> its group
  std::vector<HostGroup> groups;
  for (int machine : report.graph.ids(NodeKind::Machine)) {
    std::string text = writer.host_text(machine);
    const auto [found, fresh] = group_with.try_emplace(text, groups.size());
    if (fresh) groups.push_back({{}, std::move(text)});
    groups[found->second].machines.push_back(machine);
  }
  return groups;
}

}  // namespace weft::topo_probe
