// PCIe links and network ports as NCCL writes them.
#include "topology/export/nccl_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "topology/device_kinds.hpp"
#include "topology/guid.hpp"
#include "topology/rates.hpp"

namespace weft::topology {
namespace {

constexpr double kMbitsInGbyte = 8000;

long long mbits_of(double gbs) { return std::llround(gbs * kMbitsInGbyte); }

}  // namespace

NcclLink nccl_link(const Locality& locality, int id) {
  const Node& node = locality.node(id);
  NcclLink link{node.pci.max_gts ? node.pci.max_gts : node.pci.gts,
                node.pci.width ? node.pci.width : node.pci.max_width};
  const Node& above = locality.node(node.parent);
  const bool above_counts = above.kind == NodeKind::PciBridge && !is_emulated_bridge(above.device);
  if (link.gts && above_counts && above.pci.max_gts) link.gts = std::min(*link.gts, *above.pci.max_gts);
  if (link.gts && link.width) return link;
  const std::optional<double> gbs = locality.pci_link_gbs(id);
  if (!gbs) return link;
  for (int width : {16, 8, 4, 2, 1}) {
    if (link.width && *link.width != width) continue;
    const std::optional<double> gts = rates::pci_gts_of(*gbs, width);
    if (gts) return {gts, width};
  }
  return link;
}

std::string nccl_speed(double gts) {
  const bool short_form = std::abs(gts * 10 - std::round(gts * 10)) < 1e-9;
  return short_form ? fmt::format("{:.1f} GT/s PCIe", gts) : fmt::format("{} GT/s PCIe", gts);
}

std::vector<NcclNet> nccl_nets(const Node& nic, const DeviceFacts* facts, bool from_nccl) {
  static const DeviceFacts nothing;
  const DeviceFacts& known = facts != nullptr ? *facts : nothing;
  std::vector<std::string> names = nic.names;
  if (!from_nccl) {
    names.clear();
    if (nic.name != nic.bus_id && nic.active.value_or(true)) names.push_back(nic.name);
    if (names.empty()) return {};
  }
  std::optional<std::string> guid;
  if (known.system_image_guid) guid = guid_for_nccl(*known.system_image_guid);
  std::vector<NcclNet> nets;
  for (std::size_t i = 0; i < known.ports.size(); ++i) {
    const PortFacts& port = known.ports[i];
    if (!port.may_be_active()) continue;
    const std::size_t name = from_nccl ? i : 0;
    nets.push_back({name < names.size() ? names[name] : "", port.index, std::nullopt, port.number, guid});
    if (port.rate_gbs) nets.back().mbits = mbits_of(*port.rate_gbs);
  }
  if (!nets.empty() || !known.ports.empty()) return nets;
  // Without ports: the rate as a whole, unless it is but what its device id promises.
  for (const std::string& name : names) nets.push_back({name, std::nullopt, std::nullopt, std::nullopt, guid});
  if (!nets.empty() && nic.network_gbs && nic.network_gbs != nominal_network_gbs(nic.device))
    nets.front().mbits = mbits_of(*nic.network_gbs);
  return nets;
}

}  // namespace weft::topology
