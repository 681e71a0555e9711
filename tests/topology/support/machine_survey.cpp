// Surveys of models.
#include "tests/topology/support/machine_survey.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>

namespace weft::topology::test {

Survey machine_of(std::string_view line) {
  Survey survey;
  Result<Graph> graph = model(line);
  EXPECT_TRUE(graph) << graph.status().to_string();
  if (graph) survey.graph = std::move(graph).value();
  survey.hosts.resize(static_cast<std::size_t>(survey.graph.hosts()));
  return survey;
}

Node& node_of(Survey& survey, std::string_view name) {
  return survey.graph.nodes.at(static_cast<std::size_t>(survey.graph.find(name).value()));
}

}  // namespace weft::topology::test
