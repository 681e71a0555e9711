// Rates that an idle link could have.
#include "topology/idle_link.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "topology/device_kinds.hpp"
#include "topology/rates.hpp"

namespace weft::topology {
namespace {

// Of the slowest generation, with any number of lanes that links have.
bool is_slowest(double gbs) {
  constexpr int kLanes[] = {1, 2, 4, 8, 16};
  constexpr double kRounding = 1e-3;
  return std::any_of(std::begin(kLanes), std::end(kLanes),
                     [&](int lanes) { return std::abs(*rates::pci_gbs(rates::kPciGts[0], lanes) - gbs) < kRounding; });
}

// Where a link's speed is told, its best one is told as well, or can be seen to be unknown.
std::optional<double> slowest_rate(const Locality& locality, int node) {
  const std::optional<double> now = locality.pci_link_gbs(node);
  return now && !locality.node(node).pci.gts && is_slowest(*now) ? now : std::nullopt;
}

}  // namespace

std::optional<double> idle_rate(const Locality& locality, int gpu) {
  return slows_link_when_idle(locality.node(gpu).device) ? slowest_rate(locality, gpu) : std::nullopt;
}

std::optional<double> idle_rate_above(const Locality& locality, int gpu) {
  const int above = locality.upstream_bridge(gpu);
  if (above < 0 || locality.node(above).kind != NodeKind::PciBridge) return std::nullopt;
  if (!slows_link_when_idle(locality.node(gpu).device)) return std::nullopt;
  const std::optional<double> rate = slowest_rate(locality, above);
  const std::optional<double> own = locality.pci_link_gbs(gpu);
  return rate && own && *rate < *own ? rate : std::nullopt;
}

}  // namespace weft::topology
