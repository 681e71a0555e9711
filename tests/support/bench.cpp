// Runs weft-bench with a result file of its own.
#include "tests/support/bench.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fstream>

namespace weft::test {

std::int64_t BenchOutcome::wrong() const {
  if (results.is_null() || results.empty()) return -1;
  std::int64_t sum = 0;
  for (const auto& result : results) sum += result.at("wrong").get<std::int64_t>();
  return sum;
}

BenchOutcome run_bench(const std::vector<std::string>& arguments, const std::vector<std::string>& launcher,
                       const Environment& environment, std::chrono::milliseconds deadline) {
  const TemporaryFolder folder;
  const auto file = folder.path() + "/results.json";
  auto command = launcher;
  command.push_back(program("weft-bench"));
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(), {"--json", file, "--timeout", "60"});
  BenchOutcome outcome;
  outcome.process = run(command, environment, deadline);
  if (std::ifstream stream(file); stream) outcome.results = nlohmann::json::parse(stream).at("results");
  return outcome;
}

std::vector<std::string> briefly(std::vector<std::string> arguments) {
  for (const auto* word :
       {"--min-bytes", "8", "--max-bytes", "1M", "--factor", "64", "--iterations", "5", "--warmup", "1"}) {
    arguments.emplace_back(word);
  }
  return arguments;
}

}  // namespace weft::test
