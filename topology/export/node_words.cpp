// What pictures and reports say of a node.
#include "topology/export/node_words.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/plural.hpp"
#include "topology/idle_link.hpp"

namespace weft::topology {
namespace {

std::string link_words(const std::optional<double>& gts, const std::optional<int>& width) {
  std::string words;
  if (width) words = fmt::format("x{}", *width);
  if (gts) words += fmt::format("{}{:g} GT/s", words.empty() ? "" : " ", *gts);
  return words;
}

// Behind the rate of its link.
std::string idle_words(const Locality& locality, const Node& node) {
  if (node.kind != NodeKind::Gpu) return {};
  if (idle_rate(locality, node.id)) return " now, maybe idle";
  if (const std::optional<double> above = idle_rate_above(locality, node.id))
    return fmt::format(", {:.4g} above it now, maybe idle", *above);
  return {};
}

}  // namespace

std::string pci_words(const PciLink& pci) {
  const std::string now = link_words(pci.gts, pci.width);
  const std::string best = link_words(pci.max_gts, pci.max_width);
  if (now.empty() && best.empty()) return {};
  if (now.empty()) return fmt::format("PCIe link unknown, at most {}", best);
  return best.empty() || best == now ? fmt::format("PCIe {}", now) : fmt::format("PCIe {}, at most {}", now, best);
}

std::string memory_words(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", std::ldexp(static_cast<double>(bytes), -30));
}

std::string nic_words(const Node& nic) {
  std::string words = nic.fabric ? "fabric" : "";
  const auto append = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
  if (nic.network_gbs) append(fmt::format("{:g} Gbit/s", *nic.network_gbs * 8));
  if (nic.active) append(*nic.active ? "up" : "down");
  return words;
}

std::string describe_node(const Node& node, const Locality& locality) {
  std::string line = node.name;
  const auto add = [&](const std::string& fact) {
    if (!fact.empty()) line += "  " + fact;
  };
  add(node.bus_id == node.name ? "" : node.bus_id);
  add(node.model.empty() ? node.device : node.model);
  std::vector<std::string> others;
  for (const std::string& name : node.names)
    if (name != node.name) others.push_back(name);
  if (!others.empty()) add(fmt::format("[{}]", fmt::join(others, " ")));
  if (node.memory_bytes) add(memory_words(*node.memory_bytes));
  if (node.cores) add(base::plural(*node.cores, "core"));
  const bool has_cpus =
      node.kind == NodeKind::Package || node.kind == NodeKind::Numa || node.kind == NodeKind::CoreGroup;
  // A part without CPUs has only memory, if it is known at all which CPUs there are.
  const int machine = ancestor_of(locality.graph(), node.id, NodeKind::Machine);
  const bool knows_cpus = machine >= 0 && !locality.node(machine).cpus.empty();
  if (has_cpus && !node.cpus.empty()) add("cpus " + node.cpus);
  if (has_cpus && node.cpus.empty() && knows_cpus) add("no cpus");
  if (node.kind == NodeKind::Nic) add(nic_words(node));
  const std::string pci = pci_words(node.pci);
  const std::optional<double> gbs = locality.pci_link_gbs(node.id);
  const bool with_link = node.kind == NodeKind::Gpu || node.kind == NodeKind::Nic || node.kind == NodeKind::Storage ||
                         node.kind == NodeKind::PciSwitch;
  add(pci.empty() && gbs && with_link ? fmt::format("PCIe {:.4g} GB/s", *gbs) + idle_words(locality, node) : pci);
  return line;
}

}  // namespace weft::topology
