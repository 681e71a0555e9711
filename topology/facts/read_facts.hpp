// Reads the facts of a host, live or from a recorded tree.
#pragma once

#include <string>

#include "topology/survey.hpp"

namespace weft::topology {

// Adds the facts of the survey's one host, whose graph is known, and remarks on what could not be read.
void read_facts(const std::string& root, Survey& survey);

}  // namespace weft::topology
