// How many calls make a batch, how many batches there are, and what is read off them.
#include "bench/weft-bench/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace weft::bench {
namespace {

constexpr double kBatchUs = 30;  // a clock read is about 22 ns: below a thousandth
constexpr double kCalibrationUs = 300;
constexpr int kMinBatches = 5;
constexpr int kMaxBatches = 1000;  // enough for a 99th percentile
constexpr int kMaxBatchCalls = 100'000;

// Runs calls round robin; remembers where it was.
class Caller {
 public:
  Caller(Communicator& communicator, std::span<const Operation> calls) : communicator_(communicator), calls_(calls) {}

  Status run(int count) {
    for (int i = 0; i < count; ++i) {
      WEFT_TRY(communicator_.run(calls_[next_]));
      if (++next_ == calls_.size()) next_ = 0;
    }
    return {};
  }

  // Microseconds for one of `count` calls.
  Result<double> timed(int count) {
    const auto start = std::chrono::steady_clock::now();
    WEFT_TRY(run(count));
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
    return spent.count() / count;
  }

 private:
  Communicator& communicator_;
  std::span<const Operation> calls_;
  std::size_t next_ = 0;
};

struct Batches {
  int batches = 0;
  int calls = 0;   // in each
  int longer = 0;  // the first so many have one more
};

Batches fixed(int iterations) {
  const int batches = std::min(iterations, 100);
  return {batches, iterations / batches, iterations % batches};
}

Batches within_budget(double call_us, double budget_s) {
  const double calls = std::clamp(std::ceil(kBatchUs / call_us), 1.0, static_cast<double>(kMaxBatchCalls));
  const double batches = std::clamp(budget_s * 1e6 / (calls * call_us), static_cast<double>(kMinBatches),
                                    static_cast<double>(kMaxBatches));
  return {static_cast<int>(batches), static_cast<int>(calls), 0};
}

// What one call takes, roughly: agreed, so that all ranks make the same number of calls.
Result<double> estimate(Communicator& communicator, Caller& caller) {
  double call_us = 0;
  for (int count = 1, round = 0; round < 3; ++round) {
    WEFT_TRY_ASSIGN(call_us, caller.timed(count));
    WEFT_TRY(agree_on_max(communicator, std::span(&call_us, 1)));
    call_us = std::max(call_us, 0.001);
    if (call_us * count >= kCalibrationUs) break;
    count = static_cast<int>(std::clamp(kCalibrationUs / call_us, 1.0, static_cast<double>(kMaxBatchCalls)));
  }
  return call_us;
}

Timing summary(const std::vector<double>& times) {
  return {quantile(times, 0), quantile(times, 0.5), quantile(times, 0.99)};
}

}  // namespace

Result<Timing> time_calls(Communicator& communicator, std::span<const Operation> calls,
                          const TimingSettings& settings) {
  Caller caller(communicator, calls);
  WEFT_TRY(caller.run(settings.warmup));
  Batches plan;
  if (settings.iterations > 0) {
    plan = fixed(settings.iterations);
  } else {
    WEFT_TRY_ASSIGN(const double call_us, estimate(communicator, caller));
    plan = within_budget(call_us, settings.budget_s);
  }
  std::vector<double> times(static_cast<std::size_t>(plan.batches));
  for (int batch = 0; batch < plan.batches; ++batch) {
    WEFT_TRY_ASSIGN(times[static_cast<std::size_t>(batch)], caller.timed(plan.calls + (batch < plan.longer ? 1 : 0)));
  }
  WEFT_TRY(agree_on_max(communicator, times));
  return summary(times);
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

Status agree_on_max(Communicator& communicator, std::span<double> values) {
  return communicator.all_reduce(values.data(), values.data(), values.size(), DataType::Float64, ReduceOp::Max);
}

Status agree_on_sum(Communicator& communicator, std::span<std::uint64_t> values) {
  return communicator.all_reduce(values.data(), values.data(), values.size(), DataType::UInt64, ReduceOp::Sum);
}

}  // namespace weft::bench
