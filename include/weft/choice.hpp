// Choice: which algorithm runs, what it is expected to cost, who came next, and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/types.hpp"

namespace weft {

struct Candidate {
  std::string algorithm;  // "ring"
  int channels = 1;
  std::int64_t estimate_ns = 0;  // of the cost model or the table; -1 when it cannot serve the call
  std::string bottleneck;        // the link or resource that binds at this size: "host0/gpu3 - host0/nvswitch"
  std::string note;              // why not, for those that cannot serve; else the dominating term

  bool operator==(const Candidate&) const = default;
};

enum class ChoiceSource : std::uint8_t { Override, Table, Model, Only };

struct Choice {
  Collective collective = Collective::Barrier;
  int ranks = 1;
  std::uint64_t bytes = 0;  // as nccl-tests counts them
  ChoiceSource source = ChoiceSource::Model;
  std::string reason;                 // one sentence
  std::vector<Candidate> candidates;  // the winner first, then by estimate, then those that cannot serve

  const Candidate& winner() const { return candidates.front(); }
  // Several lines of text for people: call, winner, estimate, reason, the others.
  std::string to_string() const;

  bool operator==(const Choice&) const = default;
};

}  // namespace weft
