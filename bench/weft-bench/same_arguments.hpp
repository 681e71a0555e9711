// Ranks that a launcher starts may each be given other arguments. Then they would measure different things, or wait for
// each other in vain.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/weft-bench/arguments.hpp"
#include "weft/communicator.hpp"

namespace weft::bench {

struct NamedValue {
  std::string_view name;  // "--algorithm"
  std::string value;      // "ring@4", or "none"
};
// What all ranks must be given alike, in a fixed order.
std::vector<NamedValue> shared_arguments(const Arguments& arguments);

// Collective. InvalidArgument, on all ranks, names the first argument that differs, the rank and both values.
Status agree_on_arguments(Communicator& communicator, const Arguments& arguments);

// Collective. What rank 0 could not tell, or knows that it could not, is then true of all, so that nobody goes on for
// nobody.
Status tell_all(Communicator& communicator, Status& told);

}  // namespace weft::bench
