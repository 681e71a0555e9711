// Findings that several hosts have alike, told once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {

struct SharedFinding {
  Finding finding;                   // its subject, evidence and fix without the host
  std::vector<int> hosts;            // sorted; empty if it is of no single host
  std::vector<std::size_t> members;  // positions among the findings it was made of
};

// In the order of the first of each. `hosts`: how many were looked at.
std::vector<SharedFinding> share_findings(const std::vector<Finding>& findings, int hosts);

// Two lines for people. `where`: " on node7", or nothing.
std::string finding_text(const Finding& finding, std::string_view where);
std::string no_findings_text();

}  // namespace weft::topology::audit
