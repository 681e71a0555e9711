// Rings over hosts whose NICs are joined to different switches, the rails: what leaves a host by one rail enters the
// next by the same, so that no ring has to cross from rail to rail at the top of the network, or within a host where
// rails meet nowhere.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "topology/host_rings.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

// Whether the NICs of some host are joined to different switches. `nics`: by host, those of the network.
bool has_rails(const Graph& graph, const std::vector<std::vector<int>>& nics);

// `count` rings through all hosts (at least two, with that many entries each), ring k from rail k of the first. Empty
// where no ways through the hosts were found. Bounded; the same on all machines.
std::vector<std::vector<int>> rings_on_rails(std::span<const HostRings> hosts, std::size_t count);

}  // namespace weft::topology
