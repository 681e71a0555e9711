// What is read off the contests, and told.
#include "bench/weft-bench/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/json_writer.hpp"
#include "base/message_sizes.hpp"
#include "base/output.hpp"
#include "bench/weft-bench/same_arguments.hpp"
#include "bench/weft-bench/table_file.hpp"
#include "bench/weft-bench/timing.hpp"

namespace weft::bench {
namespace {

constexpr int kTuneRounds = 6;
constexpr int kRegretRounds = 10;  // half of them judge

// Every second one.
std::vector<std::size_t> alternate(const std::vector<std::size_t>& rounds, std::size_t first) {
  std::vector<std::size_t> half;
  for (std::size_t i = first; i < rounds.size(); i += 2) half.push_back(rounds[i]);
  return half;
}

std::uint64_t all_wrong(const std::vector<Contest>& contests) {
  return std::accumulate(contests.begin(), contests.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Contest& contest) { return sum + contest.wrong; });
}

std::string row(std::string_view collective, int ranks, std::uint64_t bytes, std::string_view rest) {
  return fmt::format("{:<16} {:>5} {:>12}  {}\n", collective, ranks, bytes, rest);
}

std::string tuned_text(const std::vector<Contest>& contests, int ranks) {
  std::string text = fmt::format("{:<16} {:>5} {:>12}  {:<28} {:>12}   {}\n", "collective", "ranks", "bytes", "fastest",
                                 "time(us)", "chosen before, and how much longer it takes");
  for (const Contest& contest : contests) {
    const auto time = [&](const Entrant& entrant) { return contest.time_us(entrant); };
    const Entrant& best = *std::min_element(contest.entrants.begin(), contest.entrants.end(),
                                            [&](const auto& a, const auto& b) { return time(a) < time(b); });
    const Entrant& chosen = contest.entrants[contest.chosen];
    text += row(to_string(contest.call.collective), ranks, contest.bytes,
                fmt::format("{:<28} {:>12.2f}   {} {:.2f} x", best.name(), time(best), chosen.name(),
                            time(chosen) / time(best)));
  }
  return text;
}

// Of `calls` that were measured.
std::string regret_text(const std::vector<Regret>& regrets, std::size_t calls) {
  std::string text =
      fmt::format("{:<16} {:>5} {:>12}  {:<28} {:<28} {:>8} {:>13} {:>12} {:>7}\n", "collective", "ranks", "bytes",
                  "chosen", "best", "regret", "predicted(us)", "measured(us)", "ratio");
  std::vector<double> values;
  std::vector<double> off;  // predicted / measured, or the other way round: at least 1
  for (const Regret& regret : regrets) {
    values.push_back(regret.regret);
    text += row(to_string(regret.collective), regret.ranks, regret.bytes,
                fmt::format("{:<28} {:<28} {:>7.1f}% {:>13.2f} {:>12.2f} {:>7.2f}", regret.chosen, regret.best,
                            regret.regret * 100, regret.predicted_us, regret.measured_us,
                            regret.predicted_us / regret.measured_us));
    const double ratio = regret.predicted_us / regret.measured_us;
    off.push_back(std::max(ratio, 1 / ratio));
  }
  if (calls > values.size())
    text +=
        fmt::format("# {} calls are left out: the machine was never steady for long enough\n", calls - values.size());
  if (values.empty()) return text;
  return text +
         fmt::format("# regret of {} calls: median {:.1f} %, 95th percentile {:.1f} %, worst {:.1f} %\n", values.size(),
                     quantile(values, 0.5) * 100, quantile(values, 0.95) * 100, quantile(values, 1) * 100) +
         fmt::format(
             "# predicted and measured differ by a factor of {:.2f} in the median, {:.2f} in the 95th percentile\n",
             quantile(off, 0.5), quantile(off, 0.95));
}

}  // namespace

ContestSettings settings_of(const Arguments& arguments) {
  const int rounds = arguments.task == Task::Tune ? kTuneRounds : kRegretRounds;
  return {rounds, arguments.time_budget_s / rounds};
}

std::vector<algorithms::MeasuredCell> cells_of(const std::vector<Contest>& contests, int ranks) {
  constexpr double kNsPerUs = 1000;
  std::vector<algorithms::MeasuredCell> cells;
  for (const Contest& contest : contests) {
    for (const Entrant& entrant : contest.entrants) {
      cells.push_back({contest.call.collective, ranks, contest.bytes, entrant.algorithm, entrant.channels,
                       std::llround(contest.time_us(entrant) * kNsPerUs)});
    }
  }
  return cells;
}

std::optional<Regret> regret_of(const Contest& contest, int ranks) {
  const std::vector<std::size_t> rounds = contest.steady_rounds();
  const Entrant& chosen = contest.entrants[contest.chosen];
  Regret result = {contest.call.collective, ranks, contest.bytes, chosen.name(), chosen.name(), 0};
  if (rounds.size() < 2) return std::nullopt;
  result.predicted_us = chosen.predicted_us;
  result.measured_us = contest.time_us(chosen);
  const std::vector<std::size_t> picking = alternate(rounds, 1);
  const Entrant* best = &chosen;
  for (const Entrant& entrant : contest.entrants) {
    const bool stayed = entrant.times_us.size() == contest.pulses_us.size();
    if (stayed && contest.relative_time(entrant, picking) < contest.relative_time(*best, picking)) best = &entrant;
  }
  result.best = best->name();
  result.regret = std::max(0.0, 1 / contest.relative_time(*best, alternate(rounds, 0)) - 1);
  return result;
}

std::string to_json(const std::vector<Regret>& regrets) {
  base::JsonWriter json;
  json.begin_object(base::JsonWriter::Layout::Lines);
  json.member("schema", 1);
  json.begin_list("cells", base::JsonWriter::Layout::Lines);
  for (const Regret& regret : regrets) {
    json.begin_object();
    json.member("collective", to_string(regret.collective));
    json.member("ranks", regret.ranks);
    json.member("bytes", regret.bytes);
    json.member("chosen", regret.chosen);
    json.member("best", regret.best);
    json.member("regret", regret.regret);
    json.member("predicted_us", regret.predicted_us);
    json.member("measured_us", regret.measured_us);
    json.end_object();
  }
  json.end_list();
  json.end_object();
  return std::move(json).text();
}

Result<Summary> tune(Communicator& communicator, const Arguments& arguments, const std::string& rules) {
  Summary summary;
  if (communicator.rank() == 0) summary.told = check_table(arguments.table, communicator.topology_fingerprint());
  WEFT_TRY(tell_all(communicator, summary.told));
  if (!summary.told.ok()) return summary;
  WEFT_TRY_ASSIGN(const auto contests, hold_contests(communicator, arguments, rules, settings_of(arguments)));
  summary.wrong = all_wrong(contests);
  if (communicator.rank() == 0 && summary.wrong > 0) {
    summary.told = Status(Code::Internal, fmt::format("{} elements were wrong, so no table is written", summary.wrong));
  } else if (communicator.rank() == 0) {
    const auto cells = cells_of(contests, communicator.size());
    summary.told = update_table(arguments.table, communicator.topology_fingerprint(), cells);
    if (summary.told.ok())
      summary.told = base::write_stdout(fmt::format("{}# {} holds {} more times; use it with WEFT_TABLE={}\n",
                                                    tuned_text(contests, communicator.size()), arguments.table,
                                                    cells.size(), arguments.table));
  }
  WEFT_TRY(tell_all(communicator, summary.told));
  return summary;
}

Result<Summary> measure_regret(Communicator& communicator, const Arguments& arguments, const std::string& rules) {
  WEFT_TRY_ASSIGN(const auto contests, hold_contests(communicator, arguments, rules, settings_of(arguments)));
  Summary summary{all_wrong(contests), {}};
  if (communicator.rank() == 0) {
    std::vector<Regret> regrets;
    for (const Contest& contest : contests) {
      if (const auto regret = regret_of(contest, communicator.size())) regrets.push_back(*regret);
    }
    summary.told = base::write_stdout(regret_text(regrets, contests.size()));
    if (summary.told.ok() && !arguments.json.empty()) summary.told = base::write_file(arguments.json, to_json(regrets));
  }
  WEFT_TRY(tell_all(communicator, summary.told));
  return summary;
}

}  // namespace weft::bench
