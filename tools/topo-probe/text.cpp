// The report as text: the machine as a tree, the matrices, the findings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "base/plural.hpp"
#include "report.hpp"
#include "topology/rates.hpp"

namespace weft::topo_probe {
namespace {

using topology::Graph;
using topology::Link;
using topology::LinkKind;
using topology::Node;
using topology::NodeKind;
using topology::PciLink;

std::string link_words(const std::optional<double>& gts, const std::optional<int>& width) {
  std::string words;
  if (width) words = fmt::format("x{}", *width);
  if (gts) words += fmt::format("{}{:g} GT/s", words.empty() ? "" : " ", *gts);
  return words;
}

// "PCIe x16 32 GT/s", and what it could be where that is more.
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

// Everything about a node on one line, the facts two blanks apart.
std::string describe(const Node& node, const topology::Locality& locality) {
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
  const int machine = topology::ancestor_of(locality.graph(), node.id, NodeKind::Machine);
  const bool knows_cpus = machine >= 0 && !locality.node(machine).cpus.empty();
  if (has_cpus && !node.cpus.empty()) add("cpus " + node.cpus);
  if (has_cpus && node.cpus.empty() && knows_cpus) add("no cpus");
  if (node.kind == NodeKind::Nic) add(nic_words(node));
  const std::string pci = pci_words(node.pci);
  const std::optional<double> gbs = locality.pci_link_gbs(node.id);
  const bool with_link = node.kind == NodeKind::Gpu || node.kind == NodeKind::Nic || node.kind == NodeKind::PciSwitch;
  add(pci.empty() && gbs && with_link ? fmt::format("PCIe {:.4g} GB/s", *gbs) : pci);
  return line;
}

class TreeWriter {
 public:
  explicit TreeWriter(const topology::Locality& locality)
      : locality_(locality), children_(locality.graph().nodes.size()) {
    for (const Node& node : locality.graph().nodes)
      if (node.parent >= 0) children_[static_cast<std::size_t>(node.parent)].push_back(node.id);
    for (const Link& link : locality.graph().links)
      if (link.kind == LinkKind::NvLink || link.kind == LinkKind::Xgmi || link.kind == LinkKind::C2c)
        device_links_[locality.node(link.a).host].push_back(&link);
  }

  // Without the machine's own name, so that like hosts give like text.
  std::string host_text(int machine) const {
    std::string text;
    for (int child : children_[static_cast<std::size_t>(machine)]) write(child, 1, text);
    const auto found = device_links_.find(locality_.node(machine).host);
    if (found != device_links_.end()) text += links_text(found->second);
    return text;
  }

 private:
  void write(int node, std::size_t depth, std::string& text) const {
    text += std::string(2 * depth, ' ') + describe(locality_.node(node), locality_) + "\n";
    for (int child : children_[static_cast<std::size_t>(node)]) write(child, depth + 1, text);
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
  std::vector<std::vector<int>> children_;
  std::map<int, std::vector<const Link*>> device_links_;
};

std::string hosts_text(const Report& report) {
  const std::vector<int> machines = report.graph.ids(NodeKind::Machine);
  const TreeWriter writer(report.locality);
  std::map<std::string, int> first_with;  // text -> machine
  std::map<int, int> like;                // machine -> how many more are like it
  std::vector<int> order;
  for (int machine : machines) {
    const auto [found, fresh] = first_with.try_emplace(writer.host_text(machine), machine);
    if (fresh)
      order.push_back(machine);
    else
      ++like[found->second];
  }
  std::string text;
  for (int machine : order) {
    const Node& node = report.locality.node(machine);
    text += node.name + (node.model.empty() ? "" : "  " + node.model);
    if (like[machine] > 0) text += fmt::format("  and {} like it", base::plural(like[machine], "host"));
    text += "\n";
    text += writer.host_text(machine);
  }
  return text;
}

std::string network_text(const Graph& graph) {
  std::map<std::string, int> kinds;
  for (const Link& link : graph.links)
    if (link.kind == LinkKind::Network) ++kinds[fmt::format("of {:g} GB/s ({})", link.bandwidth_gbs, link.source)];
  std::string text;
  for (const auto& [words, count] : kinds) text += fmt::format("  {} {}\n", base::plural(count, "link"), words);
  return text.empty() ? text : "network\n" + text;
}

std::string summary_text(const Graph& graph) {
  const auto count = [&](NodeKind kind, std::string_view one) { return base::plural(graph.ids(kind).size(), one); };
  const auto known = [](const std::optional<long long>& number, std::string_view one) {
    return number ? base::plural(*number, one) : fmt::format("unknown {}s", one);
  };
  const topology::Totals totals = topology::totals_of(graph);
  return fmt::format("{}: {}, {}, {}, {}, {}, {}, {}\nfingerprint {}\n\n", graph.name, count(NodeKind::Machine, "host"),
                     count(NodeKind::Package, "package"), count(NodeKind::Numa, "NUMA node"),
                     known(totals.cores, "core"), known(totals.cpus, "cpu"), count(NodeKind::Gpu, "GPU"),
                     count(NodeKind::Nic, "NIC"), fingerprint(graph));
}

std::string one_matrix(const Report& report, const Matrix& matrix, std::string_view title) {
  if (matrix.rows.empty() || matrix.columns.empty()) return {};
  const auto name = [&](int id) {
    const Node& node = report.locality.node(id);
    return report.locality.hosts() > 1 ? fmt::format("host{}/{}", node.host, node.name) : node.name;
  };
  std::size_t width = 11;
  for (int id : matrix.rows) width = std::max(width, name(id).size() + 1);
  for (int id : matrix.columns) width = std::max(width, name(id).size() + 1);
  std::string text = fmt::format("\n{} (class and GB/s)\n{:<{}}", title, "", width);
  for (int id : matrix.columns) text += fmt::format("{:<{}}", name(id), width);
  for (std::size_t r = 0; r < matrix.rows.size(); ++r) {
    text += fmt::format("\n{:<{}}", name(matrix.rows[r]), width);
    for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
      const std::string& word = matrix.classes[r][c];
      text += fmt::format("{:<{}}",
                          word == "X" || word == "NONE" || word == kUnknownClass
                              ? word
                              : fmt::format("{} {:.4g}", word, matrix.bandwidth_gbs[r][c]),
                          width);
    }
  }
  return text + "\n";
}

}  // namespace

std::string matrix_text(const Report& report) {
  if (!report.matrices) return fmt::format("\nno matrix: there are more than {} GPUs and NICs\n", kMaxMatrixDevices);
  if (report.matrices->gpu_gpu.rows.empty()) return "\nno matrix: there are no GPUs\n";
  return one_matrix(report, report.matrices->gpu_gpu, "GPU to GPU") +
         one_matrix(report, report.matrices->gpu_nic, "GPU to NIC");
}

std::string report_text(Report& report) {
  return summary_text(report.graph) + hosts_text(report) + network_text(report.graph) +
         (report.matrices ? matrix_text(report) : "") + "\n" + findings_text(report);
}

}  // namespace weft::topo_probe
