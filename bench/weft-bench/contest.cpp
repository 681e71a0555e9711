// Each entrant by an override of the communicator's rules, checked once, then timed in rounds.
#include "bench/weft-bench/contest.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "bench/weft-bench/timing.hpp"
#include "bench/weft-bench/workload.hpp"

namespace weft::bench {
namespace {

// Who took this many times as long as the best in the first rounds does not go on.
constexpr double kHopeless = 2.5;
constexpr std::size_t kTrialRounds = 2;
// A round's pulse may be this much slower than the fastest.
constexpr double kSteady = 1.4;

double least(const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); }

class Host {
 public:
  Host(Communicator& communicator, const Arguments& arguments, const std::string& rules,
       const ContestSettings& settings, Buffer in, Buffer out)
      : communicator_(communicator),
        arguments_(arguments),
        rules_(rules),
        settings_(settings),
        in_(std::move(in)),
        out_(std::move(out)) {}

  Result<std::vector<Contest>> run() {
    std::vector<Contest> contests;
    const std::vector<Case> cases = all_cases(arguments_, communicator_.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      tell(fmt::format("{}/{} {} of {} elements", i + 1, cases.size(), name_of(cases[i]), cases[i].call.count));
      WEFT_TRY_ASSIGN(Contest contest, hold(cases[i]));
      contests.push_back(std::move(contest));
    }
    tell("");
    WEFT_TRY(communicator_.set_algorithms(rules_));
    return contests;
  }

 private:
  void tell(const std::string& what) const {
    if (communicator_.rank() == 0 && ::isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\033[K{}", what);
  }

  Result<Contest> hold(const Case& what) {
    Contest contest;
    contest.call = what.call;
    contest.bytes = what.call.collective == Collective::Barrier ? 0 : message_bytes(what.call, communicator_.size());
    const Pattern pattern(what.call.dtype, what.call.op, reduces(what.call.collective), communicator_.size());
    Workload workload(what, {communicator_.rank(), communicator_.size()}, pattern, {in_, out_});
    WEFT_TRY(enter(workload.calls().front(), contest));
    WEFT_TRY(check(workload, contest));
    workload.clear();
    for (int round = 0; round < settings_.rounds; ++round) WEFT_TRY(run_round(workload, contest));
    return contest;
  }

  // Whoever can serve the call; the first would be chosen.
  Status enter(const Operation& call, Contest& contest) {
    WEFT_TRY(communicator_.set_algorithms(rules_));
    WEFT_TRY_ASSIGN(const Choice choice, communicator_.explain(call));
    for (const Candidate& candidate : choice.candidates) {
      if (candidate.estimate_ns < 0) continue;
      const double predicted_us = static_cast<double>(candidate.estimate_ns) / 1000;
      contest.entrants.push_back({candidate.algorithm, candidate.channels, {}, predicted_us});
    }
    return {};
  }

  Status use(const Contest& contest, const Entrant& entrant) {
    return communicator_.set_algorithms(fmt::format("{}:{}", to_string(contest.call.collective), entrant.name()));
  }

  Status check(Workload& workload, Contest& contest) {
    for (const Entrant& entrant : contest.entrants) {
      WEFT_TRY(use(contest, entrant));
      for (const Operation& call : workload.calls()) {
        workload.fill(call);
        WEFT_TRY(communicator_.run(call));
        contest.wrong += workload.check(call).wrong;
      }
    }
    return agree_on_sum(communicator_, std::span(&contest.wrong, 1));
  }

  // Times are agreed, so all ranks drop the same entrants.
  Status run_round(const Workload& workload, Contest& contest) {
    const std::size_t round = contest.pulses_us.size();
    WEFT_TRY_ASSIGN(const double before, pulse());
    double best = 0;
    for (const Entrant& entrant : contest.entrants) {
      if (round >= kTrialRounds && (best == 0 || least(entrant.times_us) < best)) best = least(entrant.times_us);
    }
    for (Entrant& entrant : contest.entrants) {
      const bool goes_on = round < kTrialRounds || least(entrant.times_us) <= kHopeless * best ||
                           &entrant == &contest.entrants[contest.chosen];
      if (!goes_on) continue;
      WEFT_TRY(use(contest, entrant));
      WEFT_TRY_ASSIGN(const Timing time, time_calls(communicator_, workload.calls(), {0, 1, settings_.budget_s}));
      entrant.times_us.push_back(time.median_us);
    }
    WEFT_TRY_ASSIGN(const double after, pulse());
    contest.pulses_us.push_back(std::max(before, after));
    return {};
  }

  Result<double> pulse() {
    WEFT_TRY(communicator_.set_algorithms("all_reduce:direct"));
    const Operation call = all_reduce(pulse_in_.data(), pulse_out_.data(), 2, DataType::Float32, ReduceOp::Max);
    WEFT_TRY_ASSIGN(const Timing time, time_calls(communicator_, std::span(&call, 1), {0, 5, 0.0005}));
    return time.median_us;
  }

  Communicator& communicator_;
  const Arguments& arguments_;
  const std::string& rules_;
  ContestSettings settings_;
  Buffer in_;
  Buffer out_;
  std::array<float, 2> pulse_in_{};
  std::array<float, 2> pulse_out_{};
};

}  // namespace

std::string Entrant::name() const { return fmt::format("{}@{}", algorithm, channels); }

double Contest::relative_time(const Entrant& entrant, const std::vector<std::size_t>& rounds) const {
  std::vector<double> ratios;
  for (const std::size_t round : rounds) {
    if (round < entrant.times_us.size()) ratios.push_back(entrant.times_us[round] / entrants[chosen].times_us[round]);
  }
  // It was dropped before the first steady round.
  if (ratios.empty()) return entrant.times_us.back() / entrants[chosen].times_us[entrant.times_us.size() - 1];
  return quantile(std::move(ratios), 0.5);
}

double Contest::time_us(const Entrant& entrant) const {
  std::vector<double> times;
  const std::vector<std::size_t> rounds = steady_rounds();
  for (const std::size_t round : rounds) times.push_back(entrants[chosen].times_us[round]);
  return quantile(std::move(times), 0.5) * relative_time(entrant, rounds);
}

std::vector<std::size_t> Contest::steady_rounds() const {
  std::vector<std::size_t> rounds;
  for (std::size_t round = 0; round < pulses_us.size(); ++round) {
    if (pulses_us[round] <= kSteady * least(pulses_us)) rounds.push_back(round);
  }
  return rounds;
}

Result<std::vector<Contest>> hold_contests(Communicator& communicator, const Arguments& arguments,
                                           const std::string& rules, const ContestSettings& settings) {
  const auto [in_bytes, out_bytes] = buffer_bytes(arguments, communicator.size());
  WEFT_TRY_ASSIGN(auto in, Buffer::allocate(communicator, in_bytes, arguments.symmetric));
  WEFT_TRY_ASSIGN(auto out, Buffer::allocate(communicator, out_bytes, arguments.symmetric));
  return Host(communicator, arguments, rules, settings, std::move(in), std::move(out)).run();
}

}  // namespace weft::bench
