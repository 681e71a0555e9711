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
#include "comm/model_pool.hpp"
#include "comm/operators.hpp"
#include "weft/choice.hpp"
#include "weft/graph.hpp"
#include "weft/group.hpp"
#include "weft/operation.hpp"

namespace weft::comm {

class Planner final {
 public:
  // `table` and `loaded`, the schedules of files, outlive the planner; null: there are none.
  static Result<std::unique_ptr<Planner>> create(ModelPool::Lease model, const std::string& overrides, int channels,
                                                 Numerics numerics, const algorithms::MeasuredTable* table,
                                                 const algorithms::LoadedSchedules* loaded = nullptr);

  // Other rules than those it was made with.
  Status set_overrides(std::string_view rules);

  const Group& group() const { return model_->group(); }
  Numerics numerics() const { return numerics_; }

  // The same for some of the ranks, as they are in their group. Made once; lives as long as this.
  Result<Planner*> part(const std::vector<int>& members);

  // Pure: equal on all ranks. `made`: the operator of a program that the call reduces with; null: it needs none.
  Result<Choice> choose(const Operation& operation, const UserOperator* made, algorithms::Detail detail);
  // The plan of `rank`. Its schedule is proved the first time; one that fails the proof is Internal and does not run.
  Result<std::unique_ptr<BoundPlan>> plan(const Operation& operation, const UserOperator* made, bool in_place, int rank,
                                          LaneDirectory& lanes);
  // What it keeps, without the model.
  std::uint64_t memory_bytes() const;

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
  Planner(algorithms::Overrides overrides, ModelPool::Lease model, Numerics numerics,
          const algorithms::MeasuredTable* table, const algorithms::LoadedSchedules* loaded)
      : overrides_(std::move(overrides)),
        model_(std::move(model)),
        numerics_(numerics),
        table_(table),
        loaded_(loaded) {}
  // Collective, algorithm, replicas, root, in place, uneven, canonical.
  using Key = std::tuple<Collective, std::string, int, int, bool, bool, bool>;

  // What of a schedule the call decides.
  struct Form {
    bool in_place = false;
    bool parted = false;     // for blocks of unequal counts
    bool canonical = false;  // reduces by the canonical tree
    bool all_ranks = false;  // with the steps of all ranks
  };

  // How calls of this choice are cut.
  Passes passes_of(const algorithms::Selected& chosen) const;
  Numerics numerics_of(const UserOperator* made) const;
  // Valid until the next call. It has the steps of `rank`, or of all.
  Result<const Schedule*> proved_schedule(const Operation& operation, const algorithms::Selected& chosen,
                                          const Form& form, int rank);
  // Whether a call's schedule must be one for blocks of unequal counts.
  bool parted(const Operation& operation, const algorithms::Selected& chosen) const;
  int ranks_beside(int rank) const;
  Result<std::unique_ptr<BoundPlan>> plan_schedule(const Operation& operation, const UserOperator* made,
                                                   const Choice& choice, bool in_place, int rank, LaneDirectory& lanes);

  algorithms::Overrides overrides_;
  ModelPool::Lease model_;
  Numerics numerics_;
  const algorithms::MeasuredTable* table_;
  const algorithms::LoadedSchedules* loaded_;
  std::map<std::vector<int>, std::unique_ptr<Planner>> parts_;  // by members
  std::set<Key> proved_;
  // Of v-variants, whose counts may be others at every call: a rank's steps.
  std::map<std::pair<Key, int>, Schedule> uneven_;
  Schedule latest_;  // of the others, while it is bound
};

}  // namespace weft::comm
