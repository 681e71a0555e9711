// Chooses, builds, proves and binds; a schedule that is not proved is never run.
#include "comm/planner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/operand_order.hpp"
#include "algorithms/verify.hpp"
#include "base/assert.hpp"
#include "base/copy_bytes.hpp"
#include "comm/call_code.hpp"
#include "comm/check.hpp"
#include "comm/mix.hpp"
#include "comm/quantised_plan.hpp"

namespace weft::comm {
namespace {

// Within a host, where every message passes through the caches, chunks are as long as a slot of shared memory at most:
// longer ones would leave the caches between their steps. Across hosts passes would wait for the network's latency.
constexpr std::uint64_t kPassChunkBytes = std::uint64_t{64} << 10;

Request request_of(const Operation& operation, int size, Numerics numerics) {
  return {operation.collective,          operation.dtype,  operation.op, operation.root,
          agreed_count(operation, size), operation.uneven, numerics};
}

// Of all that every rank knows of the counts.
std::uint64_t hash_of_counts(const Operation& operation, int size) {
  std::uint64_t hash = mix(0, agreed_count(operation, size));
  const bool gathers = operation.collective == Collective::AllGather;
  if (!operation.uneven || (!gathers && operation.collective != Collective::ReduceScatter)) return hash;
  const Blocks& blocks = gathers ? operation.out_blocks : operation.in_blocks;
  for (int rank = 0; rank < size; ++rank) hash = mix(hash, blocks.counts[rank]);
  return hash;
}

void set_kernels(BoundPlan& plan, const Operation& operation, const UserOperator* made, int size) {
  plan.parameter = size;
  if (made != nullptr) plan.hash = mix(plan.hash, made->hash());
  if (made != nullptr && !made->pre_mul_sum) {
    plan.parameter = reinterpret_cast<std::intptr_t>(made);
    plan.reduce = plan.reduce_final = user_kernel();
    return;
  }
  // What is summed is multiplied before; a quantised sum is divided where it is packed.
  const bool sums = made != nullptr || operation.quantisation != Quantisation::None;
  const ReduceOp op = sums ? ReduceOp::Sum : operation.op;
  plan.reduce = reduce_kernel(operation.dtype, op, false);
  plan.reduce_final = reduce_kernel(operation.dtype, op, true);
}

}  // namespace

Result<std::unique_ptr<Planner>> Planner::create(ModelPool::Lease model, const std::string& overrides, int channels,
                                                 Numerics numerics, const algorithms::MeasuredTable* table,
                                                 const algorithms::LoadedSchedules* loaded) {
  WEFT_TRY_ASSIGN(algorithms::Overrides parsed, algorithms::Overrides::parse(overrides, loaded));
  parsed.channels = channels;
  return std::unique_ptr<Planner>(new Planner(std::move(parsed), std::move(model), numerics, table, loaded));
}

Result<Planner*> Planner::part(const std::vector<int>& members) {
  std::unique_ptr<Planner>& kept = parts_[members];
  if (kept == nullptr) {
    WEFT_TRY_ASSIGN(ModelPool::Lease model, model_.of(members, table_));
    kept.reset(new Planner(overrides_, std::move(model), numerics_, table_, nullptr));
  }
  return kept.get();
}

Status Planner::set_overrides(std::string_view rules) {
  WEFT_TRY_ASSIGN(algorithms::Overrides parsed, algorithms::Overrides::parse(rules, loaded_));
  parsed.channels = overrides_.channels;
  overrides_ = std::move(parsed);
  parts_.clear();
  return {};
}

Numerics Planner::numerics_of(const UserOperator* made) const {
  return made != nullptr && made->ordered() ? Numerics::Invariant : numerics_;
}

Result<Choice> Planner::choose(const Operation& operation, const UserOperator* made, algorithms::Detail detail) {
  if (operation.quantisation != Quantisation::None) return choose_quantised(*this, operation);
  const Request request = request_of(operation, model_->group().size, numerics_of(made));
  return algorithms::choose(request, overrides_, table_, *model_, detail, loaded_);
}

bool Planner::parted(const Operation& operation, const algorithms::Selected& chosen) const {
  if (operation.uneven || chosen.algorithm == nullptr) return operation.uneven;
  return in_several_passes(operation, chosen.algorithm->chunks_per_block(model_->group().size) * chosen.replicas,
                           passes_of(chosen));
}

Result<const Schedule*> Planner::proved_schedule(const Operation& operation, const algorithms::Selected& chosen,
                                                 const Form& form, int rank) {
  if (chosen.loaded != nullptr) return &chosen.loaded->for_call(form.in_place);
  WEFT_ASSERT(chosen.algorithm != nullptr);
  BuildOptions build{.root = operation.root,
                     .replicas = chosen.replicas,
                     .in_place = form.in_place,
                     .uneven = form.parted,
                     .canonical = form.canonical};
  const Key key(operation.collective, std::string(chosen.algorithm->name), chosen.replicas, operation.root,
                form.in_place, form.parted, form.canonical);
  if (const auto kept = uneven_.find({key, rank}); !form.all_ranks && kept != uneven_.end()) return &kept->second;
  if (!proved_.contains(key)) {
    const Status proof =
        algorithms::verify(build_schedule(*chosen.algorithm, model_->group(), build), {.canonical = form.canonical});
    if (!proof.ok()) {
      return Status(Code::Internal,
                    fmt::format("{}/{} over {} ranks failed its proof and was not run: {}", name_of(operation),
                                chosen.algorithm->name, model_->group().size, proof.message()));
    }
    proved_.insert(key);
  }
  if (!form.all_ranks) build.only_rank = rank;
  Schedule& schedule = operation.uneven && !form.all_ranks ? uneven_[{key, rank}] : latest_;
  schedule = build_schedule(*chosen.algorithm, model_->group(), build);
  return &schedule;
}

// A schedule of a file runs in several passes only if it was proved for pieces of unequal lengths.
Passes Planner::passes_of(const algorithms::Selected& chosen) const {
  const bool may = chosen.loaded == nullptr || chosen.loaded->out_of_place.uneven;
  return {chosen.replicas, may && model_->group().hosts.size() == 1 ? kPassChunkBytes : 0};
}

// Not of a file: a stage is a part of a call that the file's author did not think of.
Result<Planner::Stage> Planner::stage(const Operation& operation, bool in_place, int rank) {
  const Request request = request_of(operation, model_->group().size, numerics_);
  WEFT_TRY_ASSIGN(const Choice choice,
                  algorithms::choose(request, overrides_, table_, *model_, algorithms::Detail::Winner, nullptr));
  algorithms::Selected chosen = algorithms::selected(choice, nullptr, operation.root);
  WEFT_ASSERT(chosen.algorithm != nullptr && chosen.algorithm->native_channels == 1);
  chosen.replicas = 1;
  const bool canonical = numerics_ == Numerics::Invariant && reduces(operation.collective);
  WEFT_TRY_ASSIGN(
      const Schedule* const schedule,
      proved_schedule(operation, chosen,
                      {.in_place = in_place, .parted = operation.uneven, .canonical = canonical, .all_ranks = false},
                      rank));
  return Stage{chosen.algorithm, *schedule};
}

Result<std::int64_t> Planner::estimate(const Stage& stage, const Operation& operation) {
  if (model_->group().size == 1) return std::int64_t{0};
  WEFT_TRY_ASSIGN(const algorithms::Estimate estimate,
                  model_->estimate(*stage.algorithm, 1, message_bytes(operation, model_->group().size)));
  return estimate.time_ns;
}

Result<std::unique_ptr<BoundPlan>> Planner::plan(const Operation& operation, const UserOperator* made, bool in_place,
                                                 int rank, LaneDirectory& lanes) {
  WEFT_TRY_ASSIGN(Choice choice, choose(operation, made, algorithms::Detail::Winner));
  const int size = model_->group().size;
  std::unique_ptr<BoundPlan> plan;
  if (operation.quantisation != Quantisation::None) {
    WEFT_TRY_ASSIGN(plan, plan_quantised(*this, operation, rank, lanes));
  } else {
    WEFT_TRY_ASSIGN(plan, plan_schedule(operation, made, choice, in_place, rank, lanes));
  }
  plan->choice = std::move(choice);
  plan->call = call_code(operation);
  plan->count = agreed_count(operation, size);
  plan->hash = mix(mix(hash_of_counts(operation, size), static_cast<std::uint64_t>(operation.root)), plan->hash);
  if (reduces(operation.collective)) set_kernels(*plan, operation, made, size);
  latest_ = Schedule();
  return plan;
}

// Of the group, on the host of `rank`: those that share its caches.
int Planner::ranks_beside(int rank) const {
  for (const std::vector<int>& host : model_->group().hosts)
    if (std::find(host.begin(), host.end(), rank) != host.end()) return static_cast<int>(host.size());
  return 1;
}

Result<std::unique_ptr<BoundPlan>> Planner::plan_schedule(const Operation& operation, const UserOperator* made,
                                                          const Choice& choice, bool in_place, int rank,
                                                          LaneDirectory& lanes) {
  const algorithms::Selected chosen = algorithms::selected(choice, loaded_, operation.root);
  if (chosen.loaded == nullptr && chosen.algorithm == nullptr)
    return Status(Code::Internal, fmt::format("the chosen algorithm {} does not exist", choice.winner().algorithm));
  const bool ordered = made != nullptr && made->ordered();
  const Form form{.in_place = in_place,
                  .parted = parted(operation, chosen),
                  .canonical = numerics_of(made) == Numerics::Invariant && reduces(operation.collective),
                  .all_ranks = ordered};
  WEFT_TRY_ASSIGN(const Schedule* const schedule, proved_schedule(operation, chosen, form, rank));
  std::vector<std::vector<bool>> swapped;
  if (ordered) {
    WEFT_TRY_ASSIGN(swapped, algorithms::swapped_operands(*schedule, rank));
  }
  const Passes passes = passes_of(chosen);
  auto plan =
      std::make_unique<BoundPlan>(bind(*schedule, rank, operation, lanes, passes, ordered ? &swapped : nullptr));
  plan->streaming = footprint(operation, rank, schedule->size).out_bytes >= base::streaming_bytes(ranks_beside(rank));
  // With what decides how messages are cut: two builds that differ there make other calls.
  plan->hash = mix(schedule->program_hash, passes.chunk_bytes);
  return plan;
}

}  // namespace weft::comm
