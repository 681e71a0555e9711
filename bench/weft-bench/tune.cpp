// What is read off the contests, and told.
#include "bench/weft-bench/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/json_writer.hpp"
#include "base/message_sizes.hpp"
#include "base/output.hpp"
#include "bench/weft-bench/timing.hpp"

namespace weft::bench {
namespace {

constexpr ContestSettings kTuneSettings = {.rounds = 6, .budget_s = 0.004};
constexpr ContestSettings kRegretSettings = {.rounds = 10, .budget_s = 0.004};

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
  std::string text = fmt::format("{:<16} {:>5} {:>12}  {:<28} {:<28} {:>8}\n", "collective", "ranks", "bytes", "chosen",
                                 "best", "regret");
  std::vector<double> values;
  for (const Regret& regret : regrets) {
    values.push_back(regret.regret);
    text += row(to_string(regret.collective), regret.ranks, regret.bytes,
                fmt::format("{:<28} {:<28} {:>7.1f}%", regret.chosen, regret.best, regret.regret * 100));
  }
  if (calls > values.size())
    text +=
        fmt::format("# {} calls are left out: the machine was never steady for long enough\n", calls - values.size());
  if (values.empty()) return text;
  return text + fmt::format("# regret of {} calls: median {:.1f} %, 95th percentile {:.1f} %, worst {:.1f} %\n",
                            values.size(), quantile(values, 0.5) * 100, quantile(values, 0.95) * 100,
                            quantile(values, 1) * 100);
}

// What the file holds already; an empty table if it is not there.
Result<algorithms::MeasuredTable> table_in(const std::string& file) {
  if (!std::filesystem::exists(file)) return algorithms::MeasuredTable();
  return algorithms::MeasuredTable::load(file);
}

Status write_table(const std::string& file, const std::string& fingerprint,
                   const std::vector<algorithms::MeasuredCell>& cells) {
  const auto named = [&](const Status& status) {
    return Status(Code::InvalidArgument, fmt::format("--table {}: {}", file, status.message()));
  };
  Result<algorithms::MeasuredTable> known = table_in(file);
  if (!known.has_value()) return named(known.error());
  Result<algorithms::MeasuredTable> table = merged(std::move(*known), fingerprint, cells);
  if (!table.has_value()) return named(table.error());
  return base::write_file(file, table->to_json());
}

// The other ranks end with an error of rank 0, too.
Status told_to_all(Communicator& communicator, const Status& told) {
  std::uint64_t failed = told.ok() ? 0 : 1;
  WEFT_TRY(agree_on_sum(communicator, std::span(&failed, 1)));
  if (failed > 0 && told.ok()) return Status(Code::SystemError, "rank 0 cannot write its output");
  return told;
}

}  // namespace

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

Result<algorithms::MeasuredTable> merged(algorithms::MeasuredTable known, const std::string& fingerprint,
                                         const std::vector<algorithms::MeasuredCell>& cells) {
  if (!known.cells.empty() && known.fingerprint != fingerprint) {
    return Status(Code::InvalidArgument,
                  fmt::format("it holds measurements of another topology ({}, this one is {}); give another file",
                              known.fingerprint, fingerprint));
  }
  known.fingerprint = fingerprint;
  std::erase_if(known.cells, [&](const algorithms::MeasuredCell& old) {
    return std::any_of(cells.begin(), cells.end(), [&](const algorithms::MeasuredCell& cell) {
      return cell.collective == old.collective && cell.ranks == old.ranks;
    });
  });
  known.cells.insert(known.cells.end(), cells.begin(), cells.end());
  return known;
}

std::optional<Regret> regret_of(const Contest& contest, int ranks) {
  const std::vector<std::size_t> rounds = contest.steady_rounds();
  const Entrant& chosen = contest.entrants[contest.chosen];
  Regret result = {contest.call.collective, ranks, contest.bytes, chosen.name(), chosen.name(), 0};
  if (rounds.size() < 2) return std::nullopt;
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
    json.end_object();
  }
  json.end_list();
  json.end_object();
  return std::move(json).text();
}

Result<Summary> tune(Communicator& communicator, const Arguments& arguments, const std::string& rules) {
  WEFT_TRY_ASSIGN(const auto contests, hold_contests(communicator, arguments, rules, kTuneSettings));
  Summary summary{all_wrong(contests), {}};
  if (communicator.rank() == 0 && summary.wrong > 0) {
    summary.told = Status(Code::Internal, fmt::format("{} elements were wrong, so no table is written", summary.wrong));
  } else if (communicator.rank() == 0) {
    const auto cells = cells_of(contests, communicator.size());
    summary.told = write_table(arguments.table, communicator.topology_fingerprint(), cells);
    if (summary.told.ok())
      summary.told = base::write_stdout(fmt::format("{}# {} holds {} more times; use it with WEFT_TABLE={}\n",
                                                    tuned_text(contests, communicator.size()), arguments.table,
                                                    cells.size(), arguments.table));
  }
  summary.told = told_to_all(communicator, summary.told);
  return summary;
}

Result<Summary> measure_regret(Communicator& communicator, const Arguments& arguments, const std::string& rules) {
  WEFT_TRY_ASSIGN(const auto contests, hold_contests(communicator, arguments, rules, kRegretSettings));
  Summary summary{all_wrong(contests), {}};
  if (communicator.rank() == 0) {
    std::vector<Regret> regrets;
    for (const Contest& contest : contests) {
      if (const auto regret = regret_of(contest, communicator.size())) regrets.push_back(*regret);
    }
    summary.told = base::write_stdout(regret_text(regrets, contests.size()));
    if (summary.told.ok() && !arguments.json.empty()) summary.told = base::write_file(arguments.json, to_json(regrets));
  }
  summary.told = told_to_all(communicator, summary.told);
  return summary;
}

}  // namespace weft::bench
