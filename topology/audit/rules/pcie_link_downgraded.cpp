// pcie.link_downgraded: a link runs narrower or slower than both its ends can.
//
// Only where both ends tell what they can do: in virtual machines bridges are emulated and tell nothing true. GPUs
// lower their speed when idle, so of them only the width counts, or the speed of one that works while most like it run
// faster.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/plural.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/device_kinds.hpp"

namespace weft::topology::audit {
namespace {

template <typename T>
std::optional<T> both(const std::optional<T>& a, const std::optional<T>& b) {
  if (!a || !b) return std::nullopt;
  return std::min(*a, *b);
}

const std::vector<int>& like_kind(const Locality& locality, const Node& node) {
  return node.kind == NodeKind::Gpu ? locality.gpus(node.host) : locality.nics(node.host);
}

// Whether the host has more of the device, and all have that many lanes.
bool all_so_narrow(const Locality& locality, const Node& node) {
  if (node.device.empty() || node.kind == NodeKind::PciSwitch) return false;
  int like = 0;
  for (int other : like_kind(locality, node)) {
    const Node& one = locality.node(other);
    if (one.device != node.device) continue;
    if (one.pci.width != node.pci.width) return false;
    ++like;
  }
  return like > 1;
}

void check_width(const Rule& self, const Locality& locality, const Node& node, const Node& bridge, Report& report) {
  const std::optional<int> most = both(node.pci.max_width, bridge.pci.max_width);
  if (most && node.pci.width && *node.pci.width < *most && !all_so_narrow(locality, node))
    report.add(self, locality.describe(node.id),
               fmt::format("runs with {}; it can do {} and {} above it {}",
                           base::plural(static_cast<std::uint64_t>(*node.pci.width), "lane"), *node.pci.max_width,
                           locality.describe(bridge.id), *bridge.pci.max_width));
}

void check_speed(const Rule& self, const Locality& locality, const Node& node, const Node& bridge, Report& report) {
  const std::optional<double> most = both(node.pci.max_gts, bridge.pci.max_gts);
  if (most && node.pci.gts && *node.pci.gts < *most && !slows_link_when_idle(node.device))
    report.add(self, locality.describe(node.id),
               fmt::format("runs at {:g} GT/s; it can do {:g} and {} above it {:g}", *node.pci.gts, *node.pci.max_gts,
                           locality.describe(bridge.id), *bridge.pci.max_gts));
}

// A GPU that is known to work, while at least three like it, and most of them, run faster.
void check_odd_gpu(const Rule& self, const Input& input, const Node& node, Report& report) {
  if (!node.pci.gts || !node.pci.max_gts || *node.pci.gts >= *node.pci.max_gts || node.device.empty()) return;
  const DeviceFacts* facts = device_facts(input, node.id);
  if (facts == nullptr || (facts->power_state != "P0" && facts->power_state != "P1" && facts->power_state != "P2"))
    return;
  int like = 0;
  int faster = 0;
  for (int other : input.locality.gpus(node.host)) {
    const Node& one = input.locality.node(other);
    if (one.id == node.id || one.device != node.device || !one.pci.gts) continue;
    ++like;
    faster += *one.pci.gts > *node.pci.gts ? 1 : 0;
  }
  if (faster >= 3 && 4 * faster > 3 * like)
    report.add(self, input.locality.describe(node.id),
               fmt::format("runs at {:g} of {:g} GT/s, while {} of {} GPUs like it run faster", *node.pci.gts,
                           *node.pci.max_gts, faster, like));
}

void check(const Rule& self, const Input& input, Report& report) {
  for (const Node& node : input.graph.nodes) {
    if (node.kind != NodeKind::Gpu && node.kind != NodeKind::Nic && node.kind != NodeKind::PciSwitch) continue;
    if (node.kind == NodeKind::Gpu) check_odd_gpu(self, input, node, report);
    const int above = input.locality.upstream_bridge(node.id);
    if (above < 0) continue;
    const Node& bridge = input.locality.node(above);
    if (bridge.kind != NodeKind::PciBridge || is_emulated_bridge(bridge.device) || is_emulated_bridge(node.device))
      continue;
    check_width(self, input.locality, node, bridge, report);
    check_speed(self, input.locality, node, bridge, report);
  }
}

}  // namespace

extern const Rule pcie_link_downgraded;
const Rule pcie_link_downgraded = {
    .id = "pcie.link_downgraded",
    .severity = Severity::Warning,
    .summary = "a PCIe link is narrower or slower than both its ends can do",
    .silent =
        "like devices that all run with so few lanes (the board is wired so); the speed of GPUs (idle), unless it "
        "works and most like it run faster; emulated bridges and ends that tell nothing",
    .fix =
        "reseat the card or cable and look for errors (dmesg, aer_dev_correctable); if it stays, the slot is wired so "
        "or the card is failing",
    .reference = "PCI Express base specification, 4.2.6",
    .check = check,
};

}  // namespace weft::topology::audit
