// What hwloc XML says beyond the graph: of the host, its operating system, cgroup and devices; and where it does not
// agree with itself.
#pragma once

#include "topology/facts/facts.hpp"
#include "topology/import/remarks.hpp"
#include "topology/probe/machine_probe.hpp"

namespace weft::topology {

// `machine`: after its phases have run.
HostFacts hwloc_facts(MachineProbe& machine);
void find_contradictions(const ObjectTree& tree, Remarks& remarks);

}  // namespace weft::topology
