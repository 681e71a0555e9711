// Adds up what a communicator and what it shares takes.
#include "weft/cost.hpp"

#include <fmt/format.h>

#include "base/heap_bytes.hpp"
#include "base/plural.hpp"
#include "comm/communicator_state.hpp"

namespace weft {

std::string Cost::to_string() const {
  return fmt::format(
      "{} bytes: group {}, plans {}, scratch {}, {} {}; {}, {}. Shared by {}: models {} bytes, {}, {}, {}", bytes(),
      group_bytes, plan_bytes, scratch_bytes, base::plural(static_cast<std::uint64_t>(lanes), "lane"), lane_bytes,
      base::plural(static_cast<std::uint64_t>(descriptors), "descriptor"),
      base::plural(static_cast<std::uint64_t>(threads), "thread"),
      base::plural(static_cast<std::uint64_t>(shared.communicators), "communicator"), shared.model_bytes,
      base::plural(static_cast<std::uint64_t>(shared.connections), "connection"),
      base::plural(static_cast<std::uint64_t>(shared.descriptors), "descriptor"),
      base::plural(static_cast<std::uint64_t>(shared.threads), "thread"));
}

namespace comm {
namespace {

std::uint64_t choice_bytes(const Choice& choice) {
  std::uint64_t bytes = base::heap_bytes(choice.reason) + base::heap_bytes(choice.candidates);
  for (const Candidate& candidate : choice.candidates)
    for (const std::string* text : {&candidate.algorithm, &candidate.bottleneck, &candidate.note})
      bytes += base::heap_bytes(*text);
  return bytes;
}

std::uint64_t schedule_bytes(const Schedule& schedule) {
  std::uint64_t bytes = base::heap_bytes(schedule.algorithm) + base::heap_bytes(schedule.ranks);
  for (const RankProgram& rank : schedule.ranks) {
    bytes += base::heap_bytes(rank.channels) + base::heap_bytes(rank.scratch);
    for (const std::vector<Step>& steps : rank.channels) bytes += base::heap_bytes(steps);
    for (const ScratchSlot& slot : rank.scratch) bytes += base::heap_bytes(slot.chunks);
  }
  return bytes;
}

}  // namespace

std::uint64_t memory_bytes(const BoundPlan& plan) {
  std::uint64_t bytes = sizeof(plan) + choice_bytes(plan.choice) + base::heap_bytes(plan.channels);
  for (const BoundChannel& channel : plan.channels)
    bytes += base::heap_bytes(channel.instructions) + base::heap_bytes(channel.last_instructions) +
             base::heap_bytes(channel.lanes) + base::heap_bytes(channel.messages);
  return bytes;
}

std::uint64_t Planner::memory_bytes() const {
  std::uint64_t bytes = sizeof(*this);
  for (const Key& key : proved_) bytes += base::kTreeNodeBytes + sizeof(Key) + base::heap_bytes(std::get<1>(key));
  for (const auto& [members, part] : parts_)
    bytes += base::kTreeNodeBytes + base::heap_bytes(members) + part->memory_bytes();
  for (const auto& [key, schedule] : uneven_)
    bytes += base::kTreeNodeBytes + sizeof(std::pair<Key, int>) + sizeof(Schedule) + schedule_bytes(schedule);
  return bytes;
}

Cost CommunicatorState::cost() {
  if (forked()) return {};
  const auto guard = runtime_->progress().guard();
  const auto setup = runtime_->setup();
  Cost cost;
  cost.group_bytes = sizeof(*this) - sizeof(Member) + member_.memory_bytes() + base::heap_bytes(slots_) +
                     slots_.size() * sizeof(Slot) + base::heap_bytes(free_) + base::heap_bytes(blocks_) +
                     base::heap_bytes(lanes_) + operators_.memory_bytes();
  cost.plan_bytes = plans_.memory_bytes() + (planner_ == nullptr ? 0 : planner_->memory_bytes());
  cost.scratch_bytes = engine_.scratch_bytes();
  for (const std::vector<std::byte>& pack : packed_) cost.scratch_bytes += base::heap_bytes(pack);
  cost.lanes = static_cast<int>(engine_.lanes());
  for (std::uint16_t lane = 0; lane < engine_.lanes(); ++lane)
    cost.lane_bytes += sizeof(Lane) + engine_.lane(lane).endpoint().memory_bytes();
  if (messages_ != nullptr) {
    cost.lanes += messages_->lanes();
    cost.lane_bytes += messages_->lane_bytes();
  }
  cost.descriptors = event_ ? 1 : 0;
  cost.shared = runtime_->shared_cost();
  return cost;
}

Cost::Shared Runtime::shared_cost() {
  Cost::Shared shared;
  shared.communicators = communicators;
  shared.model_bytes = models_.bytes();
  for (const auto& connection : connections_) shared.connections += connection != nullptr ? 1 : 0;
  base::Usage usage = parts_.store->usage();
  for (const auto& transport : parts_.transports) usage += transport->usage();
  shared.descriptors = usage.descriptors;
  shared.threads = usage.threads + (progress_->enabled() ? 1 : 0);
  return shared;
}

}  // namespace comm
}  // namespace weft
