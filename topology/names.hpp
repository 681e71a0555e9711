// Words for the enumerations of a graph, and back: one table each, used by text, JSON and error messages.
#pragma once

#include <optional>
#include <string_view>

#include "weft/graph.hpp"

namespace weft::topology {

std::optional<NodeKind> parse_node_kind(std::string_view name);
std::optional<LinkKind> parse_link_kind(std::string_view name);
std::optional<PathClass> parse_path_class(std::string_view name);

}  // namespace weft::topology
