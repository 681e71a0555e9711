// Contest: all algorithms that can serve a call, timed against each other.
//
// A machine's speed may change within seconds, so the entrants run in rounds, one after the other in each, and a round
// begins and ends with a pulse, a small call that is always the same: rounds in which it was slow can be told apart.
#pragma once

#include <string>
#include <vector>

#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/cases.hpp"
#include "weft/communicator.hpp"

namespace weft::bench {

struct Entrant {
  std::string algorithm;
  int channels = 1;
  std::vector<double> times_us;  // by round, medians; fewer for one that was too slow to go on
  double predicted_us = 0;       // by the table or the model
  std::string name() const;      // "ring@2"
};

struct Contest {
  Operation call;  // without buffers
  std::uint64_t bytes = 0;
  std::size_t chosen = 0;  // the entrant that a call would use
  std::vector<Entrant> entrants;
  std::vector<double> pulses_us;  // by round
  std::uint64_t wrong = 0;        // elements, of all entrants on all ranks

  // How long an entrant takes for each of the chosen one's times: the median over those of `rounds` in which it ran, as
  // the machine's speed may be another in each.
  double relative_time(const Entrant& entrant, const std::vector<std::size_t>& rounds) const;
  // In microseconds, for comparison with other sizes: the chosen one's median in steady rounds, times the relative.
  double time_us(const Entrant& entrant) const;

  // The rounds in which the machine was as fast as ever, or all if none is known to be.
  std::vector<std::size_t> steady_rounds() const;
};

struct ContestSettings {
  int rounds = 3;
  double budget_s = 0.004;  // of timed calls, for each entrant and round
};

// Collective. A contest for each case of the arguments, which rank 0 also tells on standard error as it goes. `rules`
// are the communicator's, by which the chosen entrant is chosen, and which it has again afterwards.
Result<std::vector<Contest>> hold_contests(Communicator& communicator, const Arguments& arguments,
                                           const std::string& rules, const ContestSettings& settings);

}  // namespace weft::bench
