// Reads a finished execution: who ended when, what was used, and the chain of causes behind the last end.
#include <algorithm>
#include <map>
#include <utility>

#include "algorithms/simulate_state.hpp"
#include "base/assert.hpp"

namespace weft::algorithms {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// Walks back from the last thing that happened: each stretch of time belongs to the thing that was waited for in it.
class CauseWalk {
 public:
  CauseWalk(const Execution& run, const Flows& flows, const FabricState& fabric)
      : run_(run), flows_(flows), fabric_(fabric) {}

  CriticalPath from_step(int track, int step) {
    place_ = {Place::StepEnd, track, step};
    return walk(run_.state(run_.tracks[index(track)], step).end_ps);
  }
  CriticalPath from_message(int message) {
    place_ = {Place::MessageEnd, message, 0};
    return walk(run_.messages[index(message)].end_ps);
  }

 private:
  struct Place {
    enum Kind { StepEnd, StepWorked, MessageHead, MessageArrival, MessageEnd, MessageStart, Begin } kind = Begin;
    int id = -1;  // a track or a message
    int step = 0;
  };

  CriticalPath walk(std::int64_t time_ps) {
    time_ps_ = time_ps;
    while (place_.kind != Place::Begin) {
      switch (place_.kind) {
        case Place::StepEnd:
          step_end();
          break;
        case Place::StepWorked:
          step_worked();
          break;
        case Place::MessageHead:
          message_head();
          break;
        case Place::MessageArrival:
          message_arrival();
          break;
        case Place::MessageEnd:
          message_end();
          break;
        case Place::MessageStart:
          message_start();
          break;
        case Place::Begin:
          break;
      }
    }
    back_to(0, path_.latency_ps);
    std::int64_t most_ps = 0;
    for (const auto& [resource, ps] : bound_ps_) {
      if (ps <= most_ps) continue;
      most_ps = ps;
      path_.bottleneck = fabric_.resources[index(resource)].name;
    }
    return std::move(path_);
  }

  // The stretch from `time_ps` to where the walk is counts as `part`.
  void back_to(std::int64_t time_ps, std::int64_t& part) {
    WEFT_ASSERT(time_ps <= time_ps_);
    part += time_ps_ - time_ps;
    time_ps_ = time_ps;
  }
  void back_over_flow(std::int64_t time_ps, int flow, std::int64_t& part) {
    bound_ps_[flows_.binding_resource(flow)] += time_ps_ - time_ps;
    back_to(time_ps, part);
  }

  void follow(const Gate& gate) {
    const bool head = gate.kind == Gate::Kind::Head && run_.messages[index(gate.message)].head_arrived;
    const Place::Kind kind = gate.kind == Gate::Kind::End ? Place::MessageEnd
                             : head                       ? Place::MessageHead
                                                          : Place::MessageArrival;
    place_ = {kind, gate.message, 0};
  }

  void step_end() {
    const Track& track = run_.tracks[index(place_.id)];
    const StepState& state = run_.state(track, place_.step);
    if (state.tail.kind != Gate::Kind::None) {
      // The last slice was taken out of the message when it had come.
      back_to(run_.messages[index(state.tail.message)].arrival_ps, path_.local_ps);
      return follow(state.tail);
    }
    if (time_ps_ > state.worked_ps)
      back_over_flow(state.worked_ps, static_cast<int>(run_.messages.size()) + place_.id, path_.local_ps);
    place_.kind = Place::StepWorked;
  }

  void step_worked() {
    const Track& track = run_.tracks[index(place_.id)];
    const StepState& state = run_.state(track, place_.step);
    const StepKind kind = track.steps[index(place_.step)].kind;
    if ((kind == StepKind::Copy || kind == StepKind::Reduce) && time_ps_ > state.open_ps)
      back_over_flow(state.open_ps, static_cast<int>(run_.messages.size()) + place_.id, path_.local_ps);
    else
      back_to(state.open_ps, path_.latency_ps);
    if (state.gate.kind != Gate::Kind::None) return follow(state.gate);
    if (place_.step == 0) {
      place_.kind = Place::Begin;
    } else {
      place_ = {Place::StepEnd, place_.id, place_.step - 1};
    }
  }

  void message_head() {
    const Message& message = run_.messages[index(place_.id)];
    back_to(message.head_ps, path_.latency_ps);
    back_over_flow(message.start_ps, place_.id, path_.transfer_ps);
    place_.kind = Place::MessageStart;
  }

  void message_arrival() {
    back_to(run_.messages[index(place_.id)].end_ps, path_.latency_ps);
    place_.kind = Place::MessageEnd;
  }

  void message_end() {
    const Message& message = run_.messages[index(place_.id)];
    if (message.ended_by_upstream) {
      back_over_flow(run_.messages[index(message.upstream)].arrival_ps, place_.id, path_.transfer_ps);
      ++path_.messages;
      place_ = {Place::MessageArrival, message.upstream, 0};
      return;
    }
    if (message.bytes > 0) back_over_flow(message.start_ps, place_.id, path_.transfer_ps);
    place_.kind = Place::MessageStart;
  }

  void message_start() {
    const Message& message = run_.messages[index(place_.id)];
    ++path_.messages;
    if (message.start_ps > message.posted_ps)
      place_ = {Place::MessageEnd, message.before, 0};
    else
      place_ = {Place::StepWorked, message.from_track, message.from_step};
  }

  const Execution& run_;
  const Flows& flows_;
  const FabricState& fabric_;
  Place place_;
  std::int64_t time_ps_ = 0;
  CriticalPath path_;
  std::map<int, std::int64_t> bound_ps_;  // by resource, so by name
};

// The last thing of the operation: a rank is done when its channels are and nothing of its memory is being read.
CriticalPath critical_path(const Execution& run, const Flows& flows, const FabricState& fabric,
                           std::int64_t makespan_ps) {
  CauseWalk walk(run, flows, fabric);
  for (std::size_t id = 0; id < run.tracks.size(); ++id) {
    const Track& track = run.tracks[id];
    const int last = static_cast<int>(track.steps.size()) - 1;
    if (last >= 0 && run.state(track, last).end_ps == makespan_ps) return walk.from_step(static_cast<int>(id), last);
  }
  for (std::size_t id = 0; id < run.messages.size(); ++id)
    if (run.messages[id].end_ps == makespan_ps) return walk.from_message(static_cast<int>(id));
  CriticalPath nothing;
  nothing.latency_ps = makespan_ps;
  return nothing;
}

std::vector<ResourceUse> used_resources(const Execution& run, const Flows& flows, const FabricState& fabric) {
  std::vector<ResourceUse> all;
  for (const Resource& resource : fabric.resources)
    all.push_back({resource.name, 0, 0, run.capacities[all.size()], resource.link});
  for (const Message& message : run.messages)
    for (const int id : message.route->resources) all[index(id)].bytes += message.bytes;
  for (const Track& track : run.tracks)
    for (std::size_t i = 0; i < track.steps.size(); ++i)
      all[index(fabric.local_resource[index(track.rank)])].bytes += run.state(track, static_cast<int>(i)).local_bytes;
  for (std::size_t id = 0; id < all.size(); ++id) all[id].busy_ps = flows.busy_ps(static_cast<int>(id));
  std::erase_if(all, [](const ResourceUse& use) { return use.busy_ps == 0; });
  std::stable_sort(all.begin(), all.end(),
                   [](const ResourceUse& a, const ResourceUse& b) { return a.busy_ps > b.busy_ps; });
  return all;
}

void fill_timeline(const Execution& run, Simulation& simulation) {
  for (const Track& track : run.tracks) {
    for (int i = 0; i < static_cast<int>(track.steps.size()); ++i) {
      const Step& step = track.steps[index(i)];
      const StepState& state = run.state(track, i);
      const int message = state.received >= 0 ? state.received : state.sent;
      const std::uint64_t bytes = message >= 0 ? run.messages[index(message)].bytes : state.local_bytes;
      simulation.timeline.push_back(
          {track.rank, track.channel, i, step.kind, step.peer, bytes, state.start_ps, state.end_ps});
    }
  }
  for (const Message& message : run.messages) {
    const Track& from = run.tracks[index(message.from_track)];
    simulation.messages.push_back({from.rank, run.tracks[index(message.to_track)].rank, from.channel, message.bytes,
                                   message.posted_ps, message.start_ps, message.end_ps, message.arrival_ps});
  }
}

}  // namespace

Simulation report(const Execution& run, const Flows& flows, const FabricState& fabric, bool timeline) {
  Simulation simulation;
  simulation.rank_end_ps.assign(fabric.placement.size(), run.start_ps);
  for (const Track& track : run.tracks) {
    std::int64_t& end_ps = simulation.rank_end_ps[index(track.rank)];
    if (!track.steps.empty())
      end_ps = std::max(end_ps, run.state(track, static_cast<int>(track.steps.size()) - 1).end_ps);
  }
  for (const Message& message : run.messages) {
    std::int64_t& end_ps = simulation.rank_end_ps[index(run.tracks[index(message.from_track)].rank)];
    end_ps = std::max(end_ps, message.end_ps);
  }
  for (const std::int64_t end_ps : simulation.rank_end_ps)
    simulation.makespan_ps = std::max(simulation.makespan_ps, end_ps);
  simulation.resources = used_resources(run, flows, fabric);
  simulation.critical = critical_path(run, flows, fabric, simulation.makespan_ps);
  if (timeline) fill_timeline(run, simulation);
  return simulation;
}

}  // namespace weft::algorithms
