// Chooses, builds, proves and binds; a schedule that is not proved is never run.
#include "comm/planner.hpp"

#include <fmt/format.h>

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

}  // namespace

Result<std::unique_ptr<Planner>> Planner::create(const topology::Graph& graph, const std::vector<int>& placement,
                                                 const std::string& overrides, int channels, Numerics numerics,
                                                 const algorithms::MeasuredTable* table) {
  WEFT_TRY_ASSIGN(algorithms::Overrides parsed, algorithms::Overrides::parse(overrides));
  parsed.channels = channels;
  WEFT_TRY_ASSIGN(algorithms::CostModel model,
                  algorithms::CostModel::create(topology::make_group(graph, placement), graph, placement, table));
  return std::unique_ptr<Planner>(new Planner(std::move(parsed), std::move(model), numerics, table));
}

Status Planner::set_overrides(std::string_view rules) {
  WEFT_TRY_ASSIGN(algorithms::Overrides parsed, algorithms::Overrides::parse(rules));
  parsed.channels = overrides_.channels;
  overrides_ = std::move(parsed);
  return {};
}

Result<Choice> Planner::choose(const Operation& operation, algorithms::Detail detail) {
  return algorithms::choose(request_of(operation, model_.group().size, numerics_), overrides_, table_, model_, detail);
}

Result<const Schedule*> Planner::proved_schedule(const Operation& operation, const Choice& choice, bool in_place,
                                                 int rank) {
  const algorithms::Selected chosen = algorithms::selected(choice);
  if (chosen.algorithm == nullptr) {
    return Status(Code::Internal, fmt::format("the chosen algorithm {} does not exist", choice.winner().algorithm));
  }
  const bool canonical = numerics_ == Numerics::Invariant && reduces(operation.collective);
  const int chunks_per_block = chosen.algorithm->chunks_per_block(model_.group().size) * chosen.replicas;
  const bool parted = operation.uneven || in_several_passes(operation, chunks_per_block, passes_of(choice));
  BuildOptions build{.root = operation.root,
                     .replicas = chosen.replicas,
                     .in_place = in_place,
                     .uneven = parted,
                     .canonical = canonical};
  const Key key(operation.collective, std::string(chosen.algorithm->name), chosen.replicas, operation.root, in_place,
                parted);
  if (const auto kept = uneven_.find(key); kept != uneven_.end()) return &kept->second;
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
  Schedule& schedule = operation.uneven ? uneven_[key] : latest_;
  schedule = build_schedule(*chosen.algorithm, model_.group(), build);
  return &schedule;
}

Passes Planner::passes_of(const Choice& choice) const {
  return {algorithms::selected(choice).replicas, model_.group().hosts.size() == 1 ? kPassChunkBytes : 0};
}

Result<std::unique_ptr<BoundPlan>> Planner::plan(const Operation& operation, bool in_place, int rank,
                                                 LaneDirectory& lanes) {
  WEFT_TRY_ASSIGN(Choice choice, choose(operation, algorithms::Detail::Winner));
  WEFT_TRY_ASSIGN(const Schedule* const schedule, proved_schedule(operation, choice, in_place, rank));
  const Passes passes = passes_of(choice);
  auto plan = std::make_unique<BoundPlan>(bind(*schedule, rank, operation, lanes, passes));
  plan->streaming = footprint(operation, rank, schedule->size).out_bytes >= base::kStreamingBytes;
  plan->choice = std::move(choice);
  plan->size = schedule->size;
  plan->call = call_code(operation);
  plan->count = agreed_count(operation, plan->size);
  // With what decides how messages are cut: two builds that differ there make other calls.
  plan->hash = mix(mix(mix(hash_of_counts(operation, plan->size), static_cast<std::uint64_t>(operation.root)),
                       schedule->program_hash),
                   passes.chunk_bytes);
  if (reduces(operation.collective)) {
    plan->reduce = reduce_kernel(operation.dtype, operation.op, false);
    plan->reduce_final = reduce_kernel(operation.dtype, operation.op, true);
  }
  return plan;
}

}  // namespace weft::comm
