// Pairs sends with receives by counting them, lane by lane.
#include "algorithms/simulate_lanes.hpp"

#include <cstdint>
#include <unordered_map>

namespace weft::algorithms {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

template <typename Visit>
void each_step(const Schedule& schedule, Visit visit) {
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const std::vector<std::vector<Step>>& channels = schedule.ranks[rank].channels;
    for (std::size_t channel = 0; channel < channels.size(); ++channel)
      for (std::size_t step = 0; step < channels[channel].size(); ++step)
        visit(StepPlace{static_cast<int>(rank), static_cast<int>(channel), static_cast<int>(step)},
              channels[channel][step]);
  }
}

struct Lane {
  int next = -1;  // the message that the next receive takes
  int last = -1;
};

}  // namespace

LaneMessages pair_messages(const Schedule& schedule) {
  LaneMessages result;
  std::vector<int> after;  // by message: the next one of its lane
  std::unordered_map<std::uint64_t, Lane> lanes;
  const std::uint64_t size = schedule.ranks.size();
  const auto lane = [&](int from, int to, int channel) -> Lane& {
    return lanes[(static_cast<std::uint64_t>(channel) * size + index(from)) * size + index(to)];
  };
  each_step(schedule, [&](const StepPlace& place, const Step& step) {
    const int to = receiver_of(step);
    if (to < 0) return;
    const int number = static_cast<int>(result.messages.size());
    Lane& own = lane(place.rank, to, place.channel);
    result.messages.push_back({place, {}, own.last});
    after.push_back(-1);
    (own.last >= 0 ? after[index(own.last)] : own.next) = number;
    own.last = number;
  });
  each_step(schedule, [&](const StepPlace& place, const Step& step) {
    const int from = sender_of(step);
    if (from < 0) return;
    Lane& own = lane(from, place.rank, place.channel);
    if (own.next < 0) return result.unanswered.push_back(place);
    result.messages[index(own.next)].to = place;
    own.next = after[index(own.next)];
  });
  return result;
}

}  // namespace weft::algorithms
