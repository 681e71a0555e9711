// The arguments that are options of a communicator; they go before the environment's.
#include <fmt/format.h>

#include <algorithm>

#include "bench/weft-bench/arguments.hpp"

namespace weft::bench {
namespace {

constexpr int kBenchTimeoutMs = 60'000;  // a benchmark that waits longer has failed

}  // namespace

void apply(const Arguments& arguments, Options& options) {
  if (arguments.timeout_s) {
    options.timeout_ms = *arguments.timeout_s * 1000;
  } else if (options.timeout_ms == kDefaultTimeoutMs) {
    options.timeout_ms = kBenchTimeoutMs;
  }
  if (!arguments.transports.empty()) options.transports = arguments.transports;
  if (arguments.numerics) options.numerics = *arguments.numerics;
  if (arguments.channels > 0) options.channels = arguments.channels;
  std::vector<std::string>& files = options.schedule_files;
  if (!arguments.schedule.empty() && std::find(files.begin(), files.end(), arguments.schedule) == files.end())
    files.push_back(arguments.schedule);
  if (arguments.algorithm.empty()) return;
  std::vector<std::string> rules;
  for (const Kind& kind : arguments.collectives) {
    // A collective and its v-variant share a rule.
    std::string rule = fmt::format("{}:{}", to_string(kind.collective), arguments.algorithm);
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(std::move(rule));
  }
  options.algorithms = fmt::format("{}", fmt::join(rules, ";"));
}

}  // namespace weft::bench
