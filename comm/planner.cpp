// Chooses, builds, proves and binds; a schedule that is not proved is never run.
#include "comm/planner.hpp"

#include <fmt/format.h>

#include "algorithms/verify.hpp"
#include "base/assert.hpp"
#include "base/copy_bytes.hpp"
#include "comm/call_code.hpp"
#include "comm/check.hpp"
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

}  // namespace

Result<std::unique_ptr<Planner>> Planner::create(const topology::Graph& graph, const std::vector<int>& placement,
                                                 const std::string& overrides, int channels, Numerics numerics,
                                                 const algorithms::MeasuredTable* table) {
  WEFT_TRY_ASSIGN(algorithms::Overrides parsed, algorithms::Overrides::parse(overrides));
  parsed.channels = channels;
  WEFT_TRY_ASSIGN(algorithms::CostModel model,
                  algorithms::CostModel::create(topology::make_group(graph, placement), graph, placement));
  return std::unique_ptr<Planner>(new Planner(std::move(parsed), std::move(model), numerics, table, graph, placement));
}

Result<Planner*> Planner::part(const std::vector<int>& members) {
  std::unique_ptr<Planner>& kept = parts_[members];
  if (kept == nullptr) {
    std::vector<int> placement;
    for (const int member : members) placement.push_back(placement_[static_cast<std::size_t>(member)]);
    WEFT_TRY_ASSIGN(auto model,
                    algorithms::CostModel::create(topology::make_group(graph_, placement), graph_, placement));
    kept.reset(new Planner(overrides_, std::move(model), numerics_, table_, graph_, std::move(placement)));
  }
  return kept.get();
}

Status Planner::set_overrides(std::string_view rules) {
  WEFT_TRY_ASSIGN(algorithms::Overrides parsed, algorithms::Overrides::parse(rules));
  parsed.channels = overrides_.channels;
  overrides_ = std::move(parsed);
  parts_.clear();
  return {};
}

Result<Choice> Planner::choose(const Operation& operation, algorithms::Detail detail) {
  if (operation.quantisation != Quantisation::None) return choose_quantised(*this, operation);
  return algorithms::choose(request_of(operation, model_.group().size, numerics_), overrides_, table_, model_, detail);
}

bool Planner::parted(const Operation& operation, const Choice& choice) const {
  const algorithms::Selected chosen = algorithms::selected(choice);
  if (operation.uneven || chosen.algorithm == nullptr) return operation.uneven;
  return in_several_passes(operation, chosen.algorithm->chunks_per_block(model_.group().size) * chosen.replicas,
                           passes_of(choice));
}

Result<const Schedule*> Planner::proved_schedule(const Operation& operation, const Choice& choice, bool in_place,
                                                 bool parted, int rank) {
  const algorithms::Selected chosen = algorithms::selected(choice);
  if (chosen.algorithm == nullptr) {
    return Status(Code::Internal, fmt::format("the chosen algorithm {} does not exist", choice.winner().algorithm));
  }
  const bool canonical = numerics_ == Numerics::Invariant && reduces(operation.collective);
  BuildOptions build{.root = operation.root,
                     .replicas = chosen.replicas,
                     .in_place = in_place,
                     .uneven = parted,
                     .canonical = canonical};
  const Key key(operation.collective, std::string(chosen.algorithm->name), chosen.replicas, operation.root, in_place,
                parted);
  if (const auto kept = uneven_.find({key, rank}); kept != uneven_.end()) return &kept->second;
  if (!proved_.contains(key)) {
    const Status proof =
        algorithms::verify(build_schedule(*chosen.algorithm, model_.group(), build), {.canonical = canonical});
    if (!proof.ok()) {
      return Status(Code::Internal,
                    fmt::format("{}/{} over {} ranks failed its proof and was not run: {}", name_of(operation),
                                chosen.algorithm->name, model_.group().size, proof.message()));
    }
    proved_.insert(key);
  }
  build.only_rank = rank;
  Schedule& schedule = operation.uneven ? uneven_[{key, rank}] : latest_;
  schedule = build_schedule(*chosen.algorithm, model_.group(), build);
  return &schedule;
}

Passes Planner::passes_of(const Choice& choice) const {
  return {algorithms::selected(choice).replicas, model_.group().hosts.size() == 1 ? kPassChunkBytes : 0};
}

Result<Planner::Stage> Planner::stage(const Operation& operation, bool in_place, int rank) {
  WEFT_TRY_ASSIGN(Choice choice, choose(operation, algorithms::Detail::Winner));
  const algorithms::Selected chosen = algorithms::selected(choice);
  WEFT_ASSERT(chosen.algorithm != nullptr && chosen.algorithm->native_channels == 1);
  choice.candidates.front().channels = 1;
  WEFT_TRY_ASSIGN(const Schedule* const schedule, proved_schedule(operation, choice, in_place, operation.uneven, rank));
  return Stage{chosen.algorithm, *schedule};
}

Result<std::int64_t> Planner::estimate(const Stage& stage, const Operation& operation) {
  if (model_.group().size == 1) return std::int64_t{0};
  WEFT_TRY_ASSIGN(const algorithms::Estimate estimate,
                  model_.estimate(*stage.algorithm, 1, message_bytes(operation, model_.group().size)));
  return estimate.time_ns;
}

Result<std::unique_ptr<BoundPlan>> Planner::plan(const Operation& operation, bool in_place, int rank,
                                                 LaneDirectory& lanes) {
  WEFT_TRY_ASSIGN(Choice choice, choose(operation, algorithms::Detail::Winner));
  std::unique_ptr<BoundPlan> plan;
  if (operation.quantisation != Quantisation::None) {
    WEFT_TRY_ASSIGN(plan, plan_quantised(*this, operation, rank, lanes));
  } else {
    const bool several_parts = parted(operation, choice);
    WEFT_TRY_ASSIGN(const Schedule* const schedule, proved_schedule(operation, choice, in_place, several_parts, rank));
    const Passes passes = passes_of(choice);
    plan = std::make_unique<BoundPlan>(bind(*schedule, rank, operation, lanes, passes));
    plan->streaming = footprint(operation, rank, schedule->size).out_bytes >= base::kStreamingBytes;
    // With what decides how messages are cut: two builds that differ there make other calls.
    plan->hash = mix(schedule->program_hash, passes.chunk_bytes);
  }
  plan->choice = std::move(choice);
  plan->size = model_.group().size;
  plan->call = call_code(operation);
  plan->count = agreed_count(operation, plan->size);
  plan->hash = mix(mix(hash_of_counts(operation, plan->size), static_cast<std::uint64_t>(operation.root)), plan->hash);
  if (reduces(operation.collective)) {
    // A quantised sum is divided where it is packed.
    const ReduceOp op = operation.quantisation == Quantisation::None ? operation.op : ReduceOp::Sum;
    plan->reduce = reduce_kernel(operation.dtype, op, false);
    plan->reduce_final = reduce_kernel(operation.dtype, op, true);
  }
  return plan;
}

}  // namespace weft::comm
