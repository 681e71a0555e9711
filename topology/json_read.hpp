// A graph out of a document that holds more.
#pragma once

#include "base/json_reader.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

// Checked as from_json() checks.
Result<Graph> read_graph(const base::JsonValue& value);

}  // namespace weft::topology
