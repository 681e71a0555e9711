// Likeness: by what nodes of a cluster are sorted into groups of like ones, without comparing each with each. Nodes
// that are alike to topology/diff may have several likenesses; nodes of one likeness are alike.
#pragma once

#include <cstdint>
#include <utility>

#include "topology/survey.hpp"

namespace weft::topology::cluster {

using Likeness = std::pair<std::uint64_t, std::uint64_t>;

// Of a survey of one host: a hash of all that is known, without what is each machine's own (diff/common_facts.hpp).
Likeness likeness_of(const Survey& survey);

}  // namespace weft::topology::cluster
