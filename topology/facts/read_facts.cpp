// Calls the readers in order: devices take addresses from the interfaces and are named as in the graph.
#include "topology/facts/read_facts.hpp"

#include <utility>

#include "topology/facts/readers.hpp"

namespace weft::topology {

void read_facts(const std::string& root, Survey& survey) {
  const Tree tree(root);
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
  read_devices(source, survey.graph, facts, survey.remarks);
  read_verbs(source, facts.devices);
  read_services(source, facts);
  survey.hosts = {std::move(facts)};
}

}  // namespace weft::topology
