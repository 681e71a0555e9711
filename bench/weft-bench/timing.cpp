// How long batches take, and what is read off them.
#include "bench/weft-bench/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <vector>

#include "bench/weft-bench/batches.hpp"

namespace weft::bench {
namespace {

constexpr double kCalibrationUs = 300;

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

// Long calls need one only, and what was checked before has warmed up what is to be.
Status warm_up(Communicator& communicator, Caller& caller, int calls) {
  if (calls < 2) return caller.run(calls);
  WEFT_TRY_ASSIGN(double first_us, caller.timed(1));
  WEFT_TRY(agree_on_max(communicator, std::span(&first_us, 1)));
  return first_us > kLongCallUs ? Status() : caller.run(calls - 1);
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

// Whether batches took longer than they may, on any rank: agreed, so that all ranks make the same number of calls.
Result<bool> took_too_long(Communicator& communicator, const std::vector<double>& times, const Batches& plan) {
  double spent_us = std::accumulate(times.begin(), times.end(), 0.0) * plan.calls;
  WEFT_TRY(agree_on_max(communicator, std::span(&spent_us, 1)));
  return spent_us > *plan.budget_us;
}

// Microseconds for one call, by batch.
Result<std::vector<double>> run_batches(Communicator& communicator, Caller& caller, const Batches& plan) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(plan.batches));
  for (int batch = 0; batch < plan.batches; ++batch) {
    if (plan.budget_us && is_time_looked_at(batch)) {
      WEFT_TRY_ASSIGN(const bool over, took_too_long(communicator, times, plan));
      if (over) break;
    }
    WEFT_TRY_ASSIGN(const double time_us, caller.timed(plan.calls + (batch < plan.longer ? 1 : 0)));
    times.push_back(time_us);
  }
  WEFT_TRY(agree_on_max(communicator, times));
  return times;
}

Timing summary(const std::vector<double>& times) {
  return {quantile(times, 0), quantile(times, 0.5), quantile(times, 0.99)};
}

}  // namespace

Result<Timing> time_calls(Communicator& communicator, std::span<const Operation> calls,
                          const TimingSettings& settings) {
  Caller caller(communicator, calls);
  Batches plan;
  if (settings.iterations > 0) {
    WEFT_TRY(caller.run(settings.warmup));
    plan = fixed(settings.iterations);
  } else {
    WEFT_TRY(warm_up(communicator, caller, settings.warmup));
    WEFT_TRY_ASSIGN(const double call_us, estimate(communicator, caller));
    plan = within_budget(call_us, settings.budget_s);
  }
  WEFT_TRY_ASSIGN(const std::vector<double> times, run_batches(communicator, caller, plan));
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
