// probe(): hwloc reads the machine or the recorded tree, the phases make a graph of it.
#include "topology/probe/probe.hpp"

#include <fmt/format.h>

#include <string>

#include "base/shortage.hpp"
#include "topology/probe/machine_probe.hpp"
#include "topology/read_file.hpp"
#include "topology/record/tree_links.hpp"

namespace weft::topology {

Result<Graph> probe(const ProbeOptions& options) { return probe_with(options, VendorBackends::Ask); }

Result<Graph> probe_with(const ProbeOptions& options, VendorBackends backends) {
  const std::string root = options.root.empty() ? "/" : options.root;
  WEFT_TRY(base::check_spare());
  if (root != "/" && list_folder(root + "/sys").empty())
    return Status(Code::NotFound, fmt::format("{} holds no recorded tree: there is nothing in {}/sys", root, root));
  if (root != "/") WEFT_TRY(check_links(root));
  WEFT_TRY_ASSIGN(const ObjectTree tree, read_hwloc_objects(root, backends));
  MachineProbe machine(tree, root, "sysfs");
  WEFT_TRY(run_phases(machine));
  WEFT_TRY(base::check_spare());  // the phases read attributes, which are unknown where they cannot be opened
  return std::move(machine.graph);
}

}  // namespace weft::topology
