// Chooses, builds, proves and binds; a schedule that is not proved is never run.
#include "comm/planner.hpp"

#include <fmt/format.h>

#include "algorithms/operand_order.hpp"
#include "algorithms/verify.hpp"
#include "base/copy_bytes.hpp"
#include "comm/call_code.hpp"
#include "comm/check.hpp"

namespace weft::comm {
namespace {

// Within a host, where every message passes through the caches, chunks are as long as a slot of shared memory at most:
// longer ones would leave the caches between their steps. Across hosts passes would wait for the network's latency.
constexpr std::uint64_t kPassChunkBytes = std::uint64_t{64} << 10;

Request request_of(const Operation& operation, int size, Numerics numerics) {
  return {operation.collective,          operation.dtype,  operation.op, operation.root,
          agreed_count(operation, size), operation.uneven, numerics};
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccd;
  return hash ^ hash >> 32;
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
  const ReduceOp op = made != nullptr ? ReduceOp::Sum : operation.op;  // what is summed is multiplied before
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

Status Planner::set_overrides(std::string_view rules) {
  WEFT_TRY_ASSIGN(algorithms::Overrides parsed, algorithms::Overrides::parse(rules, loaded_));
  parsed.channels = overrides_.channels;
  overrides_ = std::move(parsed);
  return {};
}

Numerics Planner::numerics_of(const UserOperator* made) const {
  return made != nullptr && made->ordered() ? Numerics::Invariant : numerics_;
}

Result<Choice> Planner::choose(const Operation& operation, const UserOperator* made, algorithms::Detail detail) {
  const Request request = request_of(operation, model_->group().size, numerics_of(made));
  return algorithms::choose(request, overrides_, table_, *model_, detail, loaded_);
}

Result<const Schedule*> Planner::proved_schedule(const Operation& operation, const Choice& choice, bool in_place,
                                                 bool canonical, bool all_ranks, int rank) {
  const algorithms::Selected chosen = algorithms::selected(choice, loaded_, operation.root);
  if (chosen.loaded != nullptr) return &chosen.loaded->for_call(in_place);
  if (chosen.algorithm == nullptr) {
    return Status(Code::Internal, fmt::format("the chosen algorithm {} does not exist", choice.winner().algorithm));
  }
  const int chunks_per_block = chosen.algorithm->chunks_per_block(model_->group().size) * chosen.replicas;
  const bool parted = operation.uneven || in_several_passes(operation, chunks_per_block, passes_of(chosen));
  BuildOptions build{.root = operation.root,
                     .replicas = chosen.replicas,
                     .in_place = in_place,
                     .uneven = parted,
                     .canonical = canonical};
  const Key key(operation.collective, std::string(chosen.algorithm->name), chosen.replicas, operation.root, in_place,
                parted, canonical);
  if (const auto kept = uneven_.find(key); !all_ranks && kept != uneven_.end()) return &kept->second;
  if (!proved_.contains(key)) {
    const Status proof =
        algorithms::verify(build_schedule(*chosen.algorithm, model_->group(), build), {.canonical = canonical});
    if (!proof.ok()) {
      return Status(Code::Internal,
                    fmt::format("{}/{} over {} ranks failed its proof and was not run: {}", name_of(operation),
                                chosen.algorithm->name, model_->group().size, proof.message()));
    }
    proved_.insert(key);
  }
  if (!all_ranks) build.only_rank = rank;
  Schedule& schedule = operation.uneven && !all_ranks ? uneven_[key] : latest_;
  schedule = build_schedule(*chosen.algorithm, model_->group(), build);
  return &schedule;
}

// A schedule of a file runs in several passes only if it was proved for pieces of unequal lengths.
Passes Planner::passes_of(const algorithms::Selected& chosen) const {
  const bool may = chosen.loaded == nullptr || chosen.loaded->out_of_place.uneven;
  return {chosen.replicas, may && model_->group().hosts.size() == 1 ? kPassChunkBytes : 0};
}

Result<std::unique_ptr<BoundPlan>> Planner::plan(const Operation& operation, const UserOperator* made, bool in_place,
                                                 int rank, LaneDirectory& lanes) {
  WEFT_TRY_ASSIGN(Choice choice, choose(operation, made, algorithms::Detail::Winner));
  const bool canonical = numerics_of(made) == Numerics::Invariant && reduces(operation.collective);
  const bool ordered = made != nullptr && made->ordered();
  WEFT_TRY_ASSIGN(const Schedule* const schedule,
                  proved_schedule(operation, choice, in_place, canonical, ordered, rank));
  std::vector<std::vector<bool>> swapped;
  if (ordered) {
    WEFT_TRY_ASSIGN(swapped, algorithms::swapped_operands(*schedule, rank));
  }
  const Passes passes = passes_of(algorithms::selected(choice, loaded_, operation.root));
  auto plan =
      std::make_unique<BoundPlan>(bind(*schedule, rank, operation, lanes, passes, ordered ? &swapped : nullptr));
  plan->streaming = footprint(operation, rank, schedule->size).out_bytes >= base::kStreamingBytes;
  plan->choice = std::move(choice);
  plan->call = call_code(operation);
  plan->count = agreed_count(operation, schedule->size);
  // With what decides how messages are cut: two builds that differ there make other calls.
  plan->hash = mix(mix(mix(hash_of_counts(operation, schedule->size), static_cast<std::uint64_t>(operation.root)),
                       schedule->program_hash),
                   passes.chunk_bytes);
  if (reduces(operation.collective)) set_kernels(*plan, operation, made, schedule->size);
  latest_ = Schedule();
  return plan;
}

}  // namespace weft::comm
