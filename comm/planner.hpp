// Planner: from a call to a plan: choose, build, prove, bind. The set-up path of an operation that was not seen before.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

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

  // Pure: equal on all ranks. `made`: the operator of a program that the call reduces with; null: it needs none.
  Result<Choice> choose(const Operation& operation, const UserOperator* made, algorithms::Detail detail);
  // The plan of `rank`. Its schedule is proved the first time; one that fails the proof is Internal and does not run.
  Result<std::unique_ptr<BoundPlan>> plan(const Operation& operation, const UserOperator* made, bool in_place, int rank,
                                          LaneDirectory& lanes);
  // What it keeps, without the model.
  std::uint64_t memory_bytes() const;

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

  // How calls of this choice are cut.
  Passes passes_of(const algorithms::Selected& chosen) const;
  Numerics numerics_of(const UserOperator* made) const;
  // Valid until the next call. With `all_ranks` it has the steps of all, else of `rank`.
  Result<const Schedule*> proved_schedule(const Operation& operation, const Choice& choice, bool in_place,
                                          bool canonical, bool all_ranks, int rank);

  algorithms::Overrides overrides_;
  ModelPool::Lease model_;
  Numerics numerics_;
  const algorithms::MeasuredTable* table_;
  const algorithms::LoadedSchedules* loaded_;
  std::set<Key> proved_;
  // Of v-variants, whose counts may be others at every call: this rank's steps.
  std::map<Key, Schedule> uneven_;
  Schedule latest_;  // of the others, while it is bound
};

}  // namespace weft::comm
