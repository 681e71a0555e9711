// Looks at the links of a path.
#include "topology/audit/assumed_rate.hpp"

#include <algorithm>

#include "topology/sources.hpp"

namespace weft::topology::audit {

bool has_assumed_rate(const Graph& graph, const Path& path) {
  if (path.binding_link < 0 || graph.links[static_cast<std::size_t>(path.binding_link)].source == kAssumed) return true;
  return std::any_of(path.hops.begin(), path.hops.end(), [&](const Hop& hop) {
    const Link& link = graph.links[static_cast<std::size_t>(hop.link)];
    return link.kind != LinkKind::Internal && link.source == kAssumed;
  });
}

}  // namespace weft::topology::audit
