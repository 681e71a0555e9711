// topo-probe --cluster as main calls it.
#pragma once

#include <optional>
#include <string>

#include "arguments.hpp"
#include "topology/audit/audit.hpp"

namespace weft::topo_probe {

struct ClusterOutcome {
  std::string text;
  std::optional<topology::audit::Severity> worst;  // of all findings; without: there are none
};

// Nothing on a rank that only answers.
Result<std::optional<ClusterOutcome>> run_cluster(const Arguments& arguments);

}  // namespace weft::topo_probe
