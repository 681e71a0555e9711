// The collectives that a quantised call is made of, and who takes part in each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/planner.hpp"
#include "weft/group.hpp"
#include "weft/operation.hpp"
#include "weft/status.hpp"

namespace weft::comm {

// The ranks that exchange packed blocks, and those of this rank's host that sum before. Both in the order of places.
struct QuantisedGrid {
  std::vector<int> row;   // with this rank's place on each host; all ranks if hosts do not matter
  std::vector<int> host;  // the ranks of this host; this rank alone if hosts do not matter
  int row_place = 0;      // of this rank
  int host_place = 0;

  // Hosts matter where there are several of equally many ranks, and where the bits may depend on them.
  static QuantisedGrid create(const Planner& planner, const Operation& operation, int rank);
  bool by_hosts() const { return host.size() > 1; }
};

// The schedules, the same for all passes of a call. Those of the first host and row are chosen for all, so that the
// ranks' hashes are equal.
struct QuantisedStages {
  std::optional<Planner::Stage> reduce;    // reduce_scatter_v within the host
  std::optional<Planner::Stage> exchange;  // all_to_all of the row, of all_reduce only
  Planner::Stage gather;                   // all_gather of the row
  std::optional<Planner::Stage> spread;    // all_gather within the host
  std::int64_t estimate_ns = 0;            // of a call whose parts are of `estimated_blocks`

  // Parts of `blocks` in a pass.
  static Result<QuantisedStages> create(Planner& planner, const Operation& operation, const QuantisedGrid& grid,
                                        std::uint64_t blocks, std::uint64_t estimated_blocks);
  std::string name(const Operation& operation) const;    // "int8:pairwise+ring"
  std::string reason(const Operation& operation) const;  // a sentence
  std::uint64_t hash() const;
};

// Of so many blocks of packed numbers from each rank to each, or to all.
Operation packed_call(Collective collective, std::uint64_t blocks);
// The sum within a host; `counts` has the elements that each of its ranks gets, and outlives the call.
Operation host_sum(DataType dtype, const std::vector<std::uint64_t>& counts);

}  // namespace weft::comm
