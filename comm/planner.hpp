// Planner: from a call to a plan: choose, build, prove, bind. The set-up path of an operation that was not seen before.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "algorithms/selector.hpp"
#include "comm/bound_plan.hpp"
#include "weft/choice.hpp"
#include "weft/graph.hpp"
#include "weft/group.hpp"
#include "weft/operation.hpp"

namespace weft::comm {

class Planner final {
 public:
  // `graph` and `table` outlive the planner; table null: there is none.
  static Result<std::unique_ptr<Planner>> create(const topology::Graph& graph, const std::vector<int>& placement,
                                                 const std::string& overrides, int channels, Numerics numerics,
                                                 const algorithms::MeasuredTable* table);

  // Other rules than those it was made with.
  Status set_overrides(std::string_view rules);

  const Group& group() const { return model_.group(); }
  Numerics numerics() const { return numerics_; }

  // The same for some of the ranks, as they are in their group. Made once; lives as long as this.
  Result<Planner*> part(const std::vector<int>& members);

  // Pure: equal on all ranks.
  Result<Choice> choose(const Operation& operation, algorithms::Detail detail);
  // The plan of `rank`. Its schedule is proved the first time; one that fails the proof is Internal and does not run.
  Result<std::unique_ptr<BoundPlan>> plan(const Operation& operation, bool in_place, int rank, LaneDirectory& lanes);

  // A collective that is a stage of a call: one channel, one pass, for this rank.
  struct Stage {
    const Algorithm* algorithm = nullptr;
    Schedule schedule;
  };
  // Its schedule is proved the first time.
  Result<Stage> stage(const Operation& operation, bool in_place, int rank);
  // How long the cost model expects it to take.
  Result<std::int64_t> estimate(const Stage& stage, const Operation& operation);

 private:
  Planner(algorithms::Overrides overrides, algorithms::CostModel model, Numerics numerics,
          const algorithms::MeasuredTable* table, const topology::Graph& graph, std::vector<int> placement)
      : overrides_(std::move(overrides)),
        model_(std::move(model)),
        numerics_(numerics),
        table_(table),
        graph_(graph),
        placement_(std::move(placement)) {}
  // Collective, algorithm, replicas, root, in place, uneven.
  using Key = std::tuple<Collective, std::string, int, int, bool, bool>;

  // How calls of this choice are cut.
  Passes passes_of(const Choice& choice) const;
  // Valid until the next call.
  Result<const Schedule*> proved_schedule(const Operation& operation, const Choice& choice, bool in_place, bool parted,
                                          int rank);
  // Whether a call's schedule must be one for blocks of unequal counts.
  bool parted(const Operation& operation, const Choice& choice) const;

  algorithms::Overrides overrides_;
  algorithms::CostModel model_;
  Numerics numerics_;
  const algorithms::MeasuredTable* table_;
  const topology::Graph& graph_;
  std::vector<int> placement_;
  std::map<std::vector<int>, std::unique_ptr<Planner>> parts_;  // by members
  std::set<Key> proved_;
  // Of v-variants, whose counts may be others at every call: a rank's steps.
  std::map<std::pair<Key, int>, Schedule> uneven_;
  Schedule latest_;  // of the others
};

}  // namespace weft::comm
