// The rings and trees that Weft would use, as text.
#include <fmt/format.h>

#include <algorithm>

#include "base/plural.hpp"
#include "report.hpp"
#include "topology/ring_rates.hpp"

namespace weft::topo_probe {
namespace {

using topology::Graph;
using topology::NodeKind;

constexpr std::size_t kMaxRanksShown = 64;  // of one ring, as text

std::string name_of(const Report& report, int rank) {
  return report.locality.name(report.rings->placement[static_cast<std::size_t>(rank)]);
}

std::string ring_text(const std::vector<int>& ring) {
  const std::size_t shown = std::min(ring.size(), kMaxRanksShown);
  std::string text = fmt::format("{}", fmt::join(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(shown), " "));
  if (shown < ring.size()) text += fmt::format(" ... ({} ranks)", ring.size());
  return text;
}

// "gpu0 to nvswitch0, shared by 8"
std::string shared_words(const Report& report, const topology::RingRate& rate) {
  const topology::Hop& hop = rate.shared.hop;
  if (hop.link < 0) return {};
  const topology::Link& link = report.graph.links[static_cast<std::size_t>(hop.link)];
  return fmt::format(" ({} to {}, shared by {})", report.locality.node(hop.forward ? link.a : link.b).name,
                     report.locality.node(hop.forward ? link.b : link.a).name, rate.shared.paths);
}

std::string rate_text(const Report& report, const topology::RingRate& rate) {
  std::string text = fmt::format("  narrowest step: {}, {:.4g} GB/s", to_string(rate.narrowest.path_class),
                                 rate.narrowest.bandwidth_gbs);
  if (rate.shared.paths > 1)
    text += fmt::format("; {:.4g} while all rings run{}", rate.shared.gbs, shared_words(report, rate));
  return text + "\n";
}

std::string tree_text(const Tree& tree) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t rank = 0; rank < tree.children.size() && shown < kMaxRanksShown; ++rank) {
    if (tree.children[rank].empty()) continue;
    text += fmt::format("{}{}->{}", text.empty() ? "" : "  ", rank, fmt::join(tree.children[rank], ","));
    ++shown;
  }
  return text;
}

}  // namespace

Result<Rings> make_rings(const Graph& graph, int ranks) {
  if (ranks == 0) {
    ranks = static_cast<int>(graph.ids(NodeKind::Gpu).size());
    if (ranks == 0) ranks = std::max(1, static_cast<int>(graph.ids(NodeKind::CoreGroup).size()));
  }
  WEFT_TRY_ASSIGN(std::vector<int> placement, topology::place(graph, ranks));
  Group group = topology::make_group(graph, placement);
  return Rings{std::move(placement), std::move(group)};
}

std::string rings_text(Report& report) {
  const Group& group = report.rings->group;
  std::string text =
      fmt::format("{} on {}\n", base::plural(group.size, "rank"), base::plural(group.hosts.size(), "host"));
  for (int rank = 0; rank < group.size && rank < static_cast<int>(kMaxRanksShown); ++rank)
    text += fmt::format("  rank {:<4} {}\n", rank, name_of(report, rank));
  const std::vector<topology::RingRate> rates =
      ring_rates(report.graph, report.locality.finder(), report.rings->placement, group.rings);
  for (std::size_t i = 0; i < group.rings.size(); ++i) {
    text += fmt::format("ring {}: {}\n", i, ring_text(group.rings[i]));
    if (group.size > 1) text += rate_text(report, rates[i]);
  }
  if (group.size > 1) text += fmt::format("rings together: {:.4g} GB/s\n", total_gbs(rates));
  for (std::size_t i = 0; i < group.trees.size(); ++i)
    text += fmt::format("tree {}: root {}  {}\n", i, group.trees[i].root, tree_text(group.trees[i]));
  return text;
}

}  // namespace weft::topo_probe
