// survey(): the graph of this machine, and what else is true of it.
#include "topology/survey.hpp"

#include <utility>

#include "topology/facts/read_facts.hpp"

namespace weft::topology {

const HostFacts& Survey::facts(int host) const {
  static const HostFacts nothing;
  const auto index = static_cast<std::size_t>(host);
  return host >= 0 && index < hosts.size() ? hosts[index] : nothing;
}

Result<Survey> survey(const ProbeOptions& options) {
  Survey survey;
  WEFT_TRY_ASSIGN(survey.graph, probe(options));
  survey.source = options.root == "/" ? "this machine" : "recorded tree";
  read_facts(options.root, survey);
  return survey;
}

}  // namespace weft::topology
