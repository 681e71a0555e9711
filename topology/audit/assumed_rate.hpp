// Whether nobody told the rate of a path: a finding does not name such a rate, nor compares with it.
#pragma once

#include "weft/graph.hpp"

namespace weft::topology::audit {

// Inside CPUs all is assumed: that counts only where it binds.
bool has_assumed_rate(const Graph& graph, const Path& path);

}  // namespace weft::topology::audit
