// Calls the readers in order: devices take addresses from the interfaces and are named as in the graph.
#include "topology/facts/read_facts.hpp"

#include <utility>

#include "topology/facts/readers.hpp"

namespace weft::topology {

HostFacts read_host_facts(const Tree& tree, const Graph& graph, std::vector<Remark>& remarks) {
  const FactsSource source{tree, read_environment(tree)};
  HostFacts facts;
  facts.hostname = tree.attribute("proc/sys/kernel/hostname");
  read_kernel(source, facts.kernel);
  read_platform(source, facts.platform);
  read_container(source, facts.container);
  read_process(source, facts.process);
  read_shared_cores(source, facts);
  if (source.environment) facts.environment = relevant_variables(*source.environment);
  read_interfaces(source, facts.interfaces);
  read_devices(source, graph, facts, remarks);
  read_verbs(source, facts.devices);
  read_services(source, facts);
  return facts;
}

Status read_facts(const std::string& root, Survey& survey) {
  const Tree tree(root);
  survey.hosts = {read_host_facts(tree, survey.graph, survey.remarks)};
  return tree.status();
}

}  // namespace weft::topology
