// The list of cases, and for each: check, time, check again, agree.
#include "bench/weft-bench/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/output.hpp"
#include "bench/weft-bench/cases.hpp"
#include "bench/weft-bench/launcher.hpp"
#include "bench/weft-bench/machine.hpp"
#include "bench/weft-bench/report.hpp"
#include "bench/weft-bench/same_arguments.hpp"
#include "bench/weft-bench/timing.hpp"
#include "bench/weft-bench/workload.hpp"

namespace weft::bench {
namespace {

class Runner {
 public:
  Runner(Communicator& communicator, const Arguments& arguments, Buffer in, Buffer out)
      : communicator_(communicator), arguments_(arguments), in_(std::move(in)), out_(std::move(out)) {}

  Result<Summary> run() {
    WEFT_TRY_ASSIGN(const auto setting, describe());
    const bool tells = communicator_.rank() == 0;
    if (tells) table_.emplace(setting, arguments_);

    const auto cases = all_cases(arguments_, communicator_.size());
    std::vector<Measurement> measurements;
    Summary summary;
    for (std::size_t i = 0; i < cases.size() && summary.told.ok(); ++i) {
      const auto& what = cases[i];
      if (tells && (i == 0 || name_of(cases[i - 1]) != name_of(what))) table_->begin(what);
      if (tells) table_->progress(describe(what), static_cast<int>(i) + 1, static_cast<int>(cases.size()));
      auto measured = measure(what);
      if (!measured) return std::move(measured).error().with_context(describe(what));
      measurements.push_back(std::move(measured).value());
      summary.wrong += measurements.back().wrong;
      if (tells) table_->row(measurements.back());
      if (tells) summary.told = table_->written();
      WEFT_TRY(tell_all(communicator_, summary.told));
    }
    if (!tells || !summary.told.ok()) return summary;
    table_->end(measurements);
    summary.told = table_->written();
    if (!arguments_.json.empty() && summary.told.ok())
      summary.told = base::write_file(arguments_.json, to_json(setting, measurements));
    return summary;
  }

 private:
  Result<Setting> describe() {
    Setting setting;
    setting.machine = this_machine();
    WEFT_TRY_ASSIGN(setting.places, gather_places(communicator_, setting.machine));
    const auto local = local_placement();
    setting.launcher = !local.empty()                       ? "weft-bench -n"
                       : communicator_.source() == "single" ? "no launcher"
                                                            : std::string(communicator_.source());
    setting.symmetric = arguments_.symmetric;
    setting.placement = !local.empty()              ? local
                        : communicator_.size() == 1 ? "one rank: use -n, mpirun, srun or torchrun for more"
                                                    : "as the launcher did";
    return setting;
  }

  static std::string describe(const Case& what) {
    const auto& call = what.call;
    if (call.collective == Collective::Barrier) return "barrier";
    const bool quantised = call.quantisation != Quantisation::None;
    return fmt::format("{} of {} x {}{}{}", name_of(what), call.count, to_string(call.dtype),
                       reduces(call.collective) ? fmt::format(", {}", to_string(call.op)) : "",
                       quantised ? fmt::format(", quantised to {}", to_string(call.quantisation)) : "");
  }

  Result<Measurement> measure(const Case& what) {
    Measurement measurement;
    measurement.what = what;
    measurement.ranks = communicator_.size();
    measurement.bytes =
        what.call.collective == Collective::Barrier ? 0 : message_bytes(what.call, communicator_.size());
    measurement.transport = transports_of(communicator_);
    measurement.checked = arguments_.check;
    Workload workload(what, {communicator_.rank(), communicator_.size()}, pattern_of(what.call), {in_, out_});
    WEFT_TRY_ASSIGN(const auto choice, communicator_.explain(workload.calls().front()));
    measurement.algorithm = choice.winner().algorithm;
    if (arguments_.schedule_ranks > 0 && measurement.algorithm != arguments_.algorithm)
      return Status(Code::InvalidArgument, fmt::format("--schedule {}: {}", arguments_.schedule, choice.reason));
    measurement.channels = choice.winner().channels;
    // Before the clock and after it: a plan that only works once would show.
    WEFT_TRY(checked_calls(what, workload, measurement));
    workload.clear();
    WEFT_TRY_ASSIGN(measurement.time, time_calls(communicator_, workload.calls(),
                                                 {arguments_.iterations, arguments_.warmup, arguments_.time_budget_s}));
    WEFT_TRY(checked_calls(what, workload, measurement));
    if (arguments_.hash && what.call.collective != Collective::Barrier) {
      WEFT_TRY_ASSIGN(measurement.hash, hash_of_output(communicator_, workload.calls().front(), arguments_.hash_count));
    }
    std::uint64_t wrong = measurement.wrong;
    WEFT_TRY(agree_on_sum(communicator_, std::span(&wrong, 1)));
    measurement.wrong = std::max(wrong, measurement.wrong);  // a wrong sum may not hide what this rank saw
    return measurement;
  }

  Status checked_calls(const Case& what, Workload& workload, Measurement& measurement) {
    if (!arguments_.check) return {};
    for (const auto& call : workload.calls()) {
      workload.fill(call);
      WEFT_TRY(communicator_.run(call));
      const auto verdict = workload.check(call);
      if (verdict.wrong > 0 && measurement.wrong == 0) {
        base::complain("weft-bench",
                       fmt::format("rank {}: {}, {}: {} wrong, the first: {}", communicator_.rank(), describe(what),
                                   what.in_place ? "in place" : "out of place", verdict.wrong, verdict.first_wrong));
      }
      measurement.wrong += verdict.wrong;
    }
    return {};
  }

  // Kept from one case to the next: it depends on the type and the op only.
  const Pattern& pattern_of(const Operation& call) {
    // What is quantised must be numbers, not any bits.
    const auto of_numbers = [](const Operation& one) {
      return reduces(one.collective) || one.quantisation != Quantisation::None;
    };
    const bool reducing = of_numbers(call);
    if (!pattern_ || pattern_call_.dtype != call.dtype || pattern_call_.op != call.op ||
        of_numbers(pattern_call_) != reducing) {
      pattern_.emplace(call.dtype, call.op, reducing, communicator_.size());
      pattern_call_ = call;
    }
    return *pattern_;
  }

  Communicator& communicator_;
  const Arguments& arguments_;
  Buffer in_;
  Buffer out_;
  std::optional<Table> table_;  // rank 0's
  std::optional<Pattern> pattern_;
  Operation pattern_call_;
};

}  // namespace

Result<Summary> run_benchmark(Communicator& communicator, const Arguments& arguments) {
  const auto [in_bytes, out_bytes] = buffer_bytes(arguments, communicator.size());
  WEFT_TRY_ASSIGN(auto in, Buffer::allocate(communicator, in_bytes, arguments.symmetric));
  WEFT_TRY_ASSIGN(auto out, Buffer::allocate(communicator, out_bytes, arguments.symmetric));
  return Runner(communicator, arguments, std::move(in), std::move(out)).run();
}

}  // namespace weft::bench
