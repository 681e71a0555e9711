// Surveys of models, for tests that fill in facts.
#pragma once

#include <string_view>

#include "topology/survey.hpp"

namespace weft::topology::test {

// The machine that a line of a model describes, with empty facts of each host.
Survey machine_of(std::string_view line);
// A node that must be there.
Node& node_of(Survey& survey, std::string_view name);

}  // namespace weft::topology::test
