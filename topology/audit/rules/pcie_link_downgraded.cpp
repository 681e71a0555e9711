// pcie-link-downgraded: a link runs narrower or slower than both its ends can.
//
// Only where both ends tell what they can do: in virtual machines bridges are emulated and tell nothing true. GPUs
// lower their speed when idle, so of them only the width counts.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "topology/audit/audit.hpp"
#include "topology/device_kinds.hpp"
#include "topology/locality.hpp"

namespace weft::topology::audit {
namespace {

template <typename T>
std::optional<T> both(const std::optional<T>& a, const std::optional<T>& b) {
  if (!a || !b) return std::nullopt;
  return std::min(*a, *b);
}

bool has_link(const Node& node) {
  return node.kind == NodeKind::Gpu || node.kind == NodeKind::Nic || node.kind == NodeKind::PciSwitch;
}

void check_link(const Rule& self, const Locality& locality, const Node& node, Report& report) {
  const int above = locality.upstream_bridge(node.id);
  if (above < 0) return;
  const Node& bridge = locality.node(above);
  if (bridge.kind != NodeKind::PciBridge || is_emulated_bridge(bridge.device) || is_emulated_bridge(node.device))
    return;
  const std::optional<int> width = both(node.pci.max_width, bridge.pci.max_width);
  const std::optional<double> gts = both(node.pci.max_gts, bridge.pci.max_gts);
  if (width && node.pci.width && *node.pci.width < *width)
    report.add(self, locality.describe(node.id),
               fmt::format("runs with {} lanes; it can do {} and {} above it {}", *node.pci.width, *node.pci.max_width,
                           locality.describe(above), *bridge.pci.max_width));
  if (gts && node.pci.gts && *node.pci.gts < *gts && !slows_link_when_idle(node.device))
    report.add(self, locality.describe(node.id),
               fmt::format("runs at {} GT/s; it can do {} and {} above it {}", *node.pci.gts, *node.pci.max_gts,
                           locality.describe(above), *bridge.pci.max_gts));
}

void check(const Rule& self, const Input& input, Report& report) {
  for (const Node& node : input.graph.nodes)
    if (has_link(node)) check_link(self, input.locality, node, report);
}

}  // namespace

extern const Rule pcie_link_downgraded;
const Rule pcie_link_downgraded = {"pcie-link-downgraded", Severity::Warning,
                                   "a PCIe link is narrower or slower than both its ends can do",
                                   "reseat the card or cable and look for errors (dmesg, aer_dev_correctable); if it "
                                   "stays, the slot is wired so or the card is failing",
                                   check};

}  // namespace weft::topology::audit
