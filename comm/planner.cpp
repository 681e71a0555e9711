// Chooses, builds, proves and binds; a schedule that is not proved is never run.
#include "comm/planner.hpp"

#include <fmt/format.h>

#include "algorithms/verify.hpp"
#include "comm/call_code.hpp"

namespace weft::comm {
namespace {

Request request_of(const Operation& operation) {
  return {operation.collective, operation.dtype, operation.op, operation.root, operation.count};
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccd;
  return hash ^ hash >> 32;
}

}  // namespace

Result<std::unique_ptr<Planner>> Planner::create(const topology::Graph& graph, const std::vector<int>& placement,
                                                 const std::string& overrides, int channels) {
  WEFT_TRY_ASSIGN(algorithms::Overrides parsed, algorithms::Overrides::parse(overrides));
  parsed.channels = channels;
  WEFT_TRY_ASSIGN(algorithms::CostModel model,
                  algorithms::CostModel::create(topology::make_group(graph, placement), graph, placement));
  return std::unique_ptr<Planner>(new Planner(std::move(parsed), std::move(model)));
}

Result<Choice> Planner::choose(const Operation& operation, algorithms::Detail detail) {
  return algorithms::choose(request_of(operation), overrides_, nullptr, model_, detail);
}

Result<Schedule> Planner::proved_schedule(const Operation& operation, const Choice& choice, bool in_place, int rank) {
  const algorithms::Selected chosen = algorithms::selected(choice);
  if (chosen.algorithm == nullptr) {
    return Status(Code::Internal, fmt::format("the chosen algorithm {} does not exist", choice.winner().algorithm));
  }
  BuildOptions build{.root = operation.root, .replicas = chosen.replicas, .in_place = in_place};
  const auto key =
      std::tuple(operation.collective, std::string(chosen.algorithm->name), chosen.replicas, operation.root, in_place);
  if (proved_.contains(key)) {
    build.only_rank = rank;
    return build_schedule(*chosen.algorithm, model_.group(), build);
  }
  Schedule schedule = build_schedule(*chosen.algorithm, model_.group(), build);
  if (const Status proof = algorithms::verify(schedule); !proof.ok()) {
    return Status(Code::Internal, fmt::format("{}/{} over {} ranks failed its proof and was not run: {}",
                                              to_string(operation.collective), chosen.algorithm->name,
                                              model_.group().size, proof.message()));
  }
  proved_.insert(key);
  return schedule;
}

Result<std::unique_ptr<BoundPlan>> Planner::plan(const Operation& operation, bool in_place, int rank,
                                                 LaneDirectory& lanes) {
  WEFT_TRY_ASSIGN(Choice choice, choose(operation, algorithms::Detail::Winner));
  WEFT_TRY_ASSIGN(const Schedule schedule, proved_schedule(operation, choice, in_place, rank));
  auto plan = std::make_unique<BoundPlan>(bind(schedule, rank, operation, lanes));
  plan->choice = std::move(choice);
  plan->size = schedule.size;
  plan->call = call_code(operation);
  plan->hash = mix(mix(mix(0, operation.count), static_cast<std::uint64_t>(operation.root)), schedule.program_hash);
  if (reduces(operation.collective)) {
    plan->reduce = reduce_kernel(operation.dtype, operation.op, false);
    plan->reduce_final = reduce_kernel(operation.dtype, operation.op, true);
  }
  return plan;
}

}  // namespace weft::comm
