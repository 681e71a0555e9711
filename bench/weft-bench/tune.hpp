// --tune: measures every algorithm and writes the table that communicators choose by (WEFT_TABLE). --regret: how much
// slower what is chosen is than the best that could have been.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/measured_table.hpp"
#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/contest.hpp"
#include "bench/weft-bench/runner.hpp"

namespace weft::bench {

// The rounds of --tune or --regret, among which the arguments' time is divided.
ContestSettings settings_of(const Arguments& arguments);

// The contests' cells, one for each entrant.
std::vector<algorithms::MeasuredCell> cells_of(const std::vector<Contest>& contests, int ranks);

struct Regret {
  Collective collective = Collective::Barrier;
  int ranks = 0;
  std::uint64_t bytes = 0;
  std::string chosen;
  std::string best;
  double regret = 0;        // how much longer the chosen one took, as a share of the best's time
  double predicted_us = 0;  // what the table or the model said of the chosen one
  double measured_us = 0;
};

// The best is picked by the odd ones of the steady rounds and judged by the even ones, so that luck is not taken for
// speed. Nothing if there are too few of them to tell.
std::optional<Regret> regret_of(const Contest& contest, int ranks);
std::string to_json(const std::vector<Regret>& regrets);

// Collective. Rank 0 prints, and writes the files; a table only if all results were right. `rules`: those that the
// communicator was made with (Options::algorithms).
Result<Summary> tune(Communicator& communicator, const Arguments& arguments, const std::string& rules);
Result<Summary> measure_regret(Communicator& communicator, const Arguments& arguments, const std::string& rules);

}  // namespace weft::bench
