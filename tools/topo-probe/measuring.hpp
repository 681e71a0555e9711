// topo-probe --measure: this machine measured, and the corrected topology.
#pragma once

#include "arguments.hpp"
#include "topology/survey.hpp"

namespace weft::topo_probe {

// Measures if that is asked for, and writes the corrected file.
Status measure_if_asked(const Arguments& arguments, topology::Survey& survey);

// The survey with its corrected graph as JSON, which load_survey() reads.
std::string corrected_json(const topology::Survey& survey);

}  // namespace weft::topo_probe
