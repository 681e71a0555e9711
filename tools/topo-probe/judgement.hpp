// What the audit says, judged as the command line wants it: with a site file, what is ignored, a machine to compare
// with, and a second look after an interval.
#pragma once

#include <optional>
#include <vector>

#include "arguments.hpp"
#include "topology/audit/audit.hpp"
#include "topology/survey.hpp"

namespace weft::topo_probe {

// The site file of --site and what --ignore adds.
Result<topology::audit::Site> site_of(const Arguments& arguments);

// The machine of --expect: a model by name or line, else a file; nothing if it is not given.
Result<std::optional<topology::Survey>> reference_of(const Arguments& arguments);

// With --interval it waits so long and looks at this machine again; counters that rose are findings, too.
Result<std::vector<topology::audit::Finding>> judge(const Arguments& arguments, const topology::Survey& survey);

}  // namespace weft::topo_probe
