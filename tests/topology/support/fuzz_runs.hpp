// How many mutations a fuzz test makes: few, unless WEFT_FUZZ_RUNS asks for more ("WEFT_FUZZ_RUNS=1000000").
#pragma once

#include <cstdlib>

namespace weft::topology::test {

inline long fuzz_runs(long usual) {
  const char* given = std::getenv("WEFT_FUZZ_RUNS");
  const long runs = given != nullptr ? std::strtol(given, nullptr, 10) : 0;
  return runs > 0 ? runs : usual;
}

}  // namespace weft::topology::test
