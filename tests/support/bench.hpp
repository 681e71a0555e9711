// weft-bench as a test runs it: with its results read back from the JSON file it writes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/process.hpp"

namespace weft::test {

struct BenchOutcome {
  Outcome process;
  nlohmann::json results;  // of the JSON file; null if there is none

  // Elements that were wrong in all measurements; -1 without results.
  std::int64_t wrong() const;
};

// `launcher` comes before weft-bench and its arguments: {"mpirun", "-n", "4"}; may be empty.
BenchOutcome run_bench(const std::vector<std::string>& arguments, const std::vector<std::string>& launcher = {},
                       const Environment& environment = {},
                       std::chrono::milliseconds deadline = std::chrono::seconds(120));

// Arguments that make a run short: few sizes, few calls.
std::vector<std::string> briefly(std::vector<std::string> arguments);

}  // namespace weft::test
