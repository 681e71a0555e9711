// Statements: what is true of one node of a cluster, as keys and values, without what differs between any two nodes
// (names, addresses, serial numbers, counters). Nodes with equal statements are alike.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "topology/survey.hpp"

namespace weft::topology::cluster {

using Statement = std::function<void(std::string_view key, std::string_view value)>;

// In the order of the survey; what is unknown is not stated. The survey is of one host.
void state(const Survey& survey, const Statement& statement);

std::map<std::string, std::string> statements_of(const Survey& survey);

// Equal for nodes that state the same in the same order.
using Likeness = std::pair<std::uint64_t, std::uint64_t>;
Likeness likeness_of(const Survey& survey);

}  // namespace weft::topology::cluster
