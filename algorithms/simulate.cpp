// The event loop: programs of ranks and channels that post, take and wait.
#include "algorithms/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "algorithms/simulate_lanes.hpp"
#include "algorithms/simulate_state.hpp"
#include "base/assert.hpp"

namespace weft::algorithms {
namespace {

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

std::size_t index(int i) { return static_cast<std::size_t>(i); }

bool fused(StepKind kind) { return kind == StepKind::RecvSend || kind == StepKind::RecvReduceSend; }
bool local(StepKind kind) { return kind == StepKind::Copy || kind == StepKind::Reduce; }

}  // namespace

// Events in the order of time; those of one instant in the order of their kinds and numbers, which come from the
// schedule alone.
class Simulator {
 public:
  Simulator(Execution execution, const Schedule& schedule, FabricState& fabric, const SimulationOptions& options)
      : run_(std::move(execution)),
        schedule_(schedule),
        fabric_(fabric),
        options_(options),
        core_free_ps_(fabric.resources.size(), 0) {
    flows_ = make_flows(options.sharing, run_.capacities, static_cast<int>(run_.messages.size() + run_.tracks.size()));
  }

  static Result<Simulation> run(const Schedule& schedule, std::uint64_t count, DataType dtype, Fabric& fabric,
                                const SimulationOptions& options) {
    if (fabric.ranks() != schedule.size)
      return Status(Code::InvalidArgument,
                    fmt::format("the schedule {} is for {} ranks, but {} are placed on the graph", schedule.algorithm,
                                schedule.size, fabric.ranks()));
    WEFT_TRY_ASSIGN(Execution execution, prepare_execution(schedule, count, dtype, *fabric.state_));
    Simulator simulator(std::move(execution), schedule, *fabric.state_, options);
    simulator.loop();
    WEFT_TRY(simulator.finished());
    return report(simulator.run_, *simulator.flows_, *fabric.state_, options.timeline);
  }

 private:
  enum class EventKind : std::uint8_t { Arrive, HeadArrive, End, Resume };
  struct Event {
    std::int64_t time_ps;
    EventKind kind;
    int id;  // of a message, or for Resume of a track

    bool operator>(const Event& other) const {
      return std::tie(time_ps, kind, id) > std::tie(other.time_ps, other.kind, other.id);
    }
  };

  void loop() {
    for (int track = 0; track < static_cast<int>(run_.tracks.size()); ++track)
      at(run_.start_ps, EventKind::Resume, track);
    for (;;) {
      const std::int64_t next = events_.empty() ? kForever : events_.top().time_ps;
      Milestone milestone;
      if (next > now_ && flows_->next(next, &milestone)) {
        now_ = milestone.time_ps;
        reached(milestone);
        continue;
      }
      if (events_.empty()) return;
      const Event event = events_.top();
      events_.pop();
      now_ = event.time_ps;
      switch (event.kind) {
        case EventKind::Arrive:
          arrive(event.id);
          break;
        case EventKind::HeadArrive:
          head_arrive(event.id);
          break;
        case EventKind::End:
          end(event.id);
          break;
        case EventKind::Resume:
          advance(event.id);
          break;
      }
    }
  }

  void at(std::int64_t time_ps, EventKind kind, int id) { events_.push({time_ps, kind, id}); }

  // Steps -------------------------------------------------------------------------------------------------------------

  // Runs a track until it must wait for time to pass or for a message.
  void advance(int id) {
    Track& track = run_.tracks[index(id)];
    while (track.position < static_cast<int>(track.steps.size())) {
      const Step& step = track.steps[index(track.position)];
      StepState& state = run_.state(track, track.position);
      switch (track.phase) {
        case Track::Phase::Reach:
          state.start_ps = now_;
          track.phase = Track::Phase::Gated;
          [[fallthrough]];
        case Track::Phase::Gated:
          if (!gates_open(track, step, state)) return;
          state.open_ps = now_;
          track.phase = Track::Phase::Work;
          if (work(id, step, state)) return;
          [[fallthrough]];
        case Track::Phase::Work:
          state.worked_ps = now_;
          if (state.sent >= 0) post(state.sent);
          track.phase = Track::Phase::Take;
          if (take(id, state)) return;
          [[fallthrough]];
        case Track::Phase::Take:
          state.taken_ps = now_;
          track.phase = Track::Phase::Tail;
          [[fallthrough]];
        case Track::Phase::Tail:
          if (!taken_whole(id, track, step, state)) return;
          state.end_ps = now_;
          track.phase = Track::Phase::Reach;
          ++track.position;
      }
    }
  }

  // Whether the step's message is here (of a fused step: its first slice) and the send that it names is over. If not,
  // the track is woken when that changes.
  bool gates_open(Track& track, const Step& step, const StepState& state) {
    if (receives(step.kind) &&
        !arrived(track, state.received, in_slices(step, state) ? Gate::Kind::Head : Gate::Kind::Arrival))
      return false;
    if (step.wait < 0) return true;
    const int sent = run_.state(track, step.wait).sent;
    Message& message = run_.messages[index(sent)];
    if (message.ended) return true;
    message.sender_waits = true;
    track.blocked_on = {Gate::Kind::End, sent};
    return false;
  }

  // Whether the step begins with the first slice of what it receives.
  static bool in_slices(const Step& step, const StepState& state) { return fused(step.kind) || takes(step, state); }
  // Whether the rank's core takes the bytes out of the message.
  static bool takes(const Step& step, const StepState& state) { return receives(step.kind) && state.local_bytes > 0; }

  bool arrived(Track& track, int received, Gate::Kind what) {
    Message& message = run_.messages[index(received)];
    if (message.arrived || (what == Gate::Kind::Head && message.head_arrived)) return true;
    message.receiver_waits = true;
    track.blocked_on = {what, received};
    return false;
  }

  void wake(int id) {
    Track& track = run_.tracks[index(id)];
    StepState& state = run_.state(track, track.position);
    (track.phase == Track::Phase::Tail ? state.tail : state.gate) = track.blocked_on;
    advance(id);
  }

  // Begins the step's own work; false if it takes no time.
  bool work(int id, const Step& step, const StepState& state) {
    const Track& track = run_.tracks[index(id)];
    if (local(step.kind)) {
      if (state.local_bytes == 0) return false;
      const int flow = static_cast<int>(run_.messages.size()) + id;
      flows_->start(flow, core_of(track), state.work_bytes, state.work_bytes, now_);
      return true;
    }
    std::int64_t overhead_ps = 0;
    if (state.received >= 0) overhead_ps += run_.messages[index(state.received)].route->receive_overhead_ps;
    if (state.sent >= 0) overhead_ps += run_.messages[index(state.sent)].route->send_overhead_ps;
    if (overhead_ps == 0) return false;
    std::int64_t done_ps = now_ + overhead_ps;
    if (!fabric_.on_gpu[index(track.rank)]) {
      // The channels of a CPU rank take turns on its core, as ranks do that share one.
      std::int64_t& free_ps = core_free_ps_[index(core_of(track).front())];
      done_ps = std::max(free_ps, now_) + overhead_ps;
      free_ps = done_ps;
    }
    at(done_ps, EventKind::Resume, id);
    return true;
  }

  std::span<const int> core_of(const Track& track) const {
    return std::span(&fabric_.local_resource[index(track.rank)], 1);
  }

  // Begins to take the bytes out of the message, which goes on while more of them arrive; false if others do that.
  bool take(int id, const StepState& state) {
    const Track& track = run_.tracks[index(id)];
    if (!takes(track.steps[index(track.position)], state)) return false;
    flows_->start(static_cast<int>(run_.messages.size()) + id, core_of(track), state.work_bytes, state.work_bytes,
                  now_);
    return true;
  }

  // Whether all of the message has come, and been taken: the last slice is taken after its arrival. If not, the track
  // is woken.
  bool taken_whole(int id, Track& track, const Step& step, const StepState& state) {
    if (!in_slices(step, state)) return true;
    if (!arrived(track, state.received, Gate::Kind::Arrival)) return false;
    if (!takes(step, state)) return true;
    const Message& message = run_.messages[index(state.received)];
    const std::int64_t whole_ps = message.arrival_ps + take_slice_ps(message, state);
    if (state.taken_ps >= message.arrival_ps || now_ >= whole_ps) return true;
    at(whole_ps, EventKind::Resume, id);
    return false;
  }

  // The time in which a slice is taken.
  std::int64_t take_slice_ps(const Message& message, const StepState& state) const {
    __extension__ using Wide = unsigned __int128;
    const auto work = static_cast<Wide>(slice(message)) * state.work_bytes / state.local_bytes;
    const int core = fabric_.local_resource[index(run_.tracks[index(message.to_track)].rank)];
    return transfer_ps(static_cast<std::uint64_t>(work), run_.capacities[index(core)]);
  }

  // Messages ----------------------------------------------------------------------------------------------------------

  void post(int id) {
    Message& message = run_.messages[index(id)];
    message.posted = true;
    message.posted_ps = now_;
    if (message.before < 0 || run_.messages[index(message.before)].ended) leave(id);
  }

  void leave(int id) {
    Message& message = run_.messages[index(id)];
    message.start_ps = now_;
    if (message.bytes == 0) return at(now_, EventKind::End, id);
    flows_->start(id, message.route->resources, message.bytes, slice(message), now_);
  }

  std::uint64_t slice(const Message& message) const {
    return std::min(std::max<std::uint64_t>(options_.slice_bytes, 1), message.bytes);
  }
  std::int64_t slice_ps(const Message& message) const {
    std::int64_t narrowest = kForever;
    for (const int id : message.route->resources) narrowest = std::min(narrowest, run_.capacities[index(id)]);
    return transfer_ps(slice(message), narrowest);
  }

  void reached(const Milestone& milestone) {
    const int local_track = milestone.flow - static_cast<int>(run_.messages.size());
    if (local_track >= 0) return advance(local_track);
    Message& message = run_.messages[index(milestone.flow)];
    if (!milestone.last) {
      message.head_ps = now_;
      return at(now_ + message.latency_ps(), EventKind::HeadArrive, milestone.flow);
    }
    if (message.upstream < 0) return at(now_, EventKind::End, milestone.flow);
    // What it passes on must have come first: it ends no earlier than one slice after that.
    const Message& upstream = run_.messages[index(message.upstream)];
    message.drained = true;
    if (upstream.arrived) end_after_upstream(milestone.flow);
  }

  void end_after_upstream(int id) {
    Message& message = run_.messages[index(id)];
    const Message& upstream = run_.messages[index(message.upstream)];
    const StepState& state = run_.state(run_.tracks[index(message.from_track)], message.from_step);
    const std::int64_t take_ps = state.local_bytes > 0 ? take_slice_ps(upstream, state) : 0;
    const std::int64_t earliest_ps = upstream.arrival_ps + take_ps + slice_ps(message);
    message.ended_by_upstream = earliest_ps > now_;
    at(std::max(now_, earliest_ps), EventKind::End, id);
  }

  void end(int id) {
    Message& message = run_.messages[index(id)];
    message.ended = true;
    message.end_ps = now_;
    at(now_ + message.latency_ps(), EventKind::Arrive, id);
    if (message.after >= 0 && run_.messages[index(message.after)].posted) leave(message.after);
    if (std::exchange(message.sender_waits, false)) wake(message.from_track);
  }

  void head_arrive(int id) {
    Message& message = run_.messages[index(id)];
    message.head_arrived = true;
    const Track& receiver = run_.tracks[index(message.to_track)];
    if (message.receiver_waits && receiver.blocked_on.kind == Gate::Kind::Head) {
      message.receiver_waits = false;
      wake(message.to_track);
    }
  }

  void arrive(int id) {
    Message& message = run_.messages[index(id)];
    message.arrived = true;
    message.arrival_ps = now_;
    if (message.downstream >= 0 && run_.messages[index(message.downstream)].drained)
      end_after_upstream(message.downstream);
    if (std::exchange(message.receiver_waits, false)) wake(message.to_track);
  }

  // OK if every track came to its end.
  Status finished() const {
    for (const Track& track : run_.tracks) {
      if (track.position == static_cast<int>(track.steps.size())) continue;
      const Message& message = run_.messages[index(track.blocked_on.message)];
      const bool sending = track.blocked_on.kind == Gate::Kind::End;
      const int peer =
          sending ? run_.tracks[index(message.to_track)].rank : run_.tracks[index(message.from_track)].rank;
      return Status(
          Code::InvalidArgument,
          fmt::format("the schedule {} hangs: rank {} waits in channel {} at step {} for {} rank {}; verify says more",
                      schedule_.algorithm, track.rank, track.channel, track.position,
                      sending ? "its send to" : "a message from", peer));
    }
    return Status();
  }

  Execution run_;
  const Schedule& schedule_;
  FabricState& fabric_;
  SimulationOptions options_;
  std::unique_ptr<Flows> flows_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::int64_t> core_free_ps_;
  std::int64_t now_ = 0;
};

Result<Simulation> simulate(const Schedule& schedule, std::uint64_t count, DataType dtype, Fabric& fabric,
                            const SimulationOptions& options) {
  return Simulator::run(schedule, count, dtype, fabric, options);
}

}  // namespace weft::algorithms
