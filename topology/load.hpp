// What sources are; load_survey() itself is declared in survey.hpp, load() in weft/graph.hpp.
#pragma once

#include <string_view>

namespace weft::topology {

// Of a file or folder that load_survey() refuses: whether it is meant to be one, and broken or cut, rather than
// something else. An empty file is: nothing came of it.
bool begins_like_survey(std::string_view path);

}  // namespace weft::topology
