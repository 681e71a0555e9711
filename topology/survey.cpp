// survey(): the graph of this machine, and what else is true of it. Vendors' libraries work while the rest is read.
#include "topology/survey.hpp"

#include <utility>

#include "topology/facts/read_facts.hpp"
#include "topology/facts/readers.hpp"
#include "topology/probe/probe.hpp"
#include "topology/sources.hpp"
#include "topology/vendor/vendor.hpp"

namespace weft::topology {

const HostFacts& Survey::facts(int host) const {
  static const HostFacts nothing;
  const auto index = static_cast<std::size_t>(host);
  return host >= 0 && index < hosts.size() ? hosts[index] : nothing;
}

Result<Survey> survey(const ProbeOptions& options) {
  const Tree tree(options.root);
  VendorQuery vendors(find_vendor_libraries({tree, read_environment(tree)}), find_helper());
  Survey survey;
  WEFT_TRY_ASSIGN(survey.graph, probe_with(options, VendorBackends::LeaveOut));
  survey.source = options.root == "/" ? kThisMachine : "recorded tree";
  if (!tells_cpus(options.root))
    survey.remarks.push_back({RemarkKind::Incomplete, options.root,
                              "sys/devices/system/cpu/cpu*/topology is not in this tree: packages, cores, CPUs and "
                              "which of them are near a device are not known; topo-probe record holds them"});
  WEFT_TRY(read_facts(options.root, survey));
  vendors.finish(survey);
  WEFT_TRY(survey.graph.check());
  return survey;
}

}  // namespace weft::topology
