// Looks an algorithm up by its name in the table of all.
#include "weft/schedule_builder.hpp"

namespace weft {

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm* algorithm : all_algorithms())
    if (algorithm->collective == collective && algorithm->name == name) return algorithm;
  return nullptr;
}

}  // namespace weft
