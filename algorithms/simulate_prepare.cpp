// Makes an Execution out of a schedule: tracks, messages, and which receive takes which message.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "algorithms/simulate_lanes.hpp"
#include "algorithms/simulate_state.hpp"

namespace weft::algorithms {
namespace {

// Beyond this a flow's bytes in fixed point would not fit 64 bits.
constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 46;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

std::uint64_t elements_of(const Schedule& schedule, const Layout& layout, int rank, const Span& span,
                          std::uint64_t count) {
  std::uint64_t elements = 0;
  if (span.space == Space::Scratch) {
    const std::vector<std::int32_t>& chunks = schedule.ranks[index(rank)].scratch[index(span.slot)].chunks;
    for (int i = span.first; i < span.first + span.count; ++i) elements += layout.elements(chunks[index(i)], count);
  } else if (span.space != Space::None) {
    elements = layout.begin_element(span.first + span.count, count) - layout.begin_element(span.first, count);
  }
  return elements;
}

class Preparation {
 public:
  Preparation(const Schedule& schedule, std::uint64_t count, DataType dtype, FabricState& fabric)
      : schedule_(schedule),
        layout_(layout_of(schedule)),
        count_(count),
        dtype_(dtype),
        element_bytes_(size_of(dtype)),
        fabric_(fabric) {}

  Result<Execution> run() {
    if (schedule_.size < 1 || schedule_.ranks.size() != index(schedule_.size) || schedule_.chunks_per_block < 1)
      return wrong("it does not hold a program for every rank");
    if (element_bytes_ > 0 && count_ > kMaxMessageBytes / element_bytes_ / index(layout_.blocks()))
      return wrong(fmt::format("{} elements are more than the simulator can count", count_));
    run_.start_ps = fabric_.start_ps;
    footprint_ = largest_buffers(schedule_, count_, dtype_);
    run_.capacities = fabric_.capacities(footprint_);
    for (int rank = 0; rank < schedule_.size; ++rank) WEFT_TRY(add_tracks(rank));
    WEFT_TRY(add_messages());
    return std::move(run_);
  }

 private:
  Status wrong(std::string_view what) const {
    return Status(Code::InvalidArgument,
                  fmt::format("the schedule {} cannot be simulated: {}", schedule_.algorithm, what));
  }
  Status wrong(int rank, int channel, int step, std::string_view what) const {
    return wrong(fmt::format("rank {}, channel {}, step {}: {}", rank, channel, step, what));
  }
  Status wrong(const Track& track, int step, std::string_view what) const {
    return wrong(track.rank, track.channel, step, what);
  }

  Status add_tracks(int rank) {
    const RankProgram& program = schedule_.ranks[index(rank)];
    first_track_.push_back(static_cast<int>(run_.tracks.size()));
    for (std::size_t channel = 0; channel < program.channels.size(); ++channel) {
      Track track;
      track.rank = rank;
      track.channel = static_cast<int>(channel);
      track.steps = program.channels[channel];
      track.first_state = static_cast<int>(run_.states.size());
      for (std::size_t i = 0; i < track.steps.size(); ++i) WEFT_TRY(check(track, static_cast<int>(i)));
      for (const Step& step : track.steps) {
        StepState state;
        if (step.kind == StepKind::Copy || step.kind == StepKind::Reduce) {
          state.local_bytes = bytes(rank, step.dst);
          state.work_bytes =
              fabric_.work_bytes(rank, false, step.kind == StepKind::Reduce, state.local_bytes, footprint_);
        }
        run_.states.push_back(state);
      }
      run_.tracks.push_back(track);
    }
    return Status();
  }

  Status check(const Track& track, int i) const {
    const Step& step = track.steps[index(i)];
    for (const int peer : {receiver_of(step), sender_of(step)}) {
      if (peer == -1) continue;
      if (peer < 0 || peer >= schedule_.size) return wrong(track, i, fmt::format("there is no rank {}", peer));
      if (peer == track.rank) return wrong(track, i, "a rank does not send to itself");
    }
    if (sends(step.kind) && receiver_of(step) < 0) return wrong(track, i, "it sends to nobody");
    if (receives(step.kind) && sender_of(step) < 0) return wrong(track, i, "it receives from nobody");
    if (step.wait >= i || step.wait < -1 || (step.wait >= 0 && receiver_of(track.steps[index(step.wait)]) < 0))
      return wrong(track, i, fmt::format("it waits for step {}, which is not an earlier send", step.wait));
    if (step.kind == StepKind::Wait && step.wait < 0) return wrong(track, i, "it waits for nothing");
    for (const Span& span : {step.dst, step.src})
      if (!valid(track.rank, span)) return wrong(track, i, "it names memory that the rank does not have");
    return Status();
  }

  bool valid(int rank, const Span& span) const {
    if (span.first < 0 || span.count < 0) return false;
    std::size_t chunks = 0;
    if (span.space == Space::Input) chunks = index(layout_.input_chunks(rank));
    if (span.space == Space::Output) chunks = index(layout_.output_chunks(rank));
    if (span.space == Space::Scratch) {
      const std::vector<ScratchSlot>& scratch = schedule_.ranks[index(rank)].scratch;
      if (span.slot < 0 || index(span.slot) >= scratch.size()) return false;
      chunks = scratch[index(span.slot)].chunks.size();
    }
    return index(span.first) + index(span.count) <= chunks;
  }

  Status add_messages() {
    const LaneMessages lanes = pair_messages(schedule_);
    if (!lanes.unanswered.empty()) {
      const StepPlace& place = lanes.unanswered.front();
      return wrong(place.rank, place.channel, place.step, "the message that it receives is never sent");
    }
    run_.messages.reserve(lanes.messages.size());
    for (const LaneMessage& lane : lanes.messages) WEFT_TRY(add_message(lane));
    for (const LaneMessage& lane : lanes.messages) {
      // A fused step passes on what it receives.
      const StepState& state = state_at(lane.to);
      if (state.sent < 0) continue;
      run_.messages[index(state.received)].downstream = state.sent;
      run_.messages[index(state.sent)].upstream = state.received;
    }
    return Status();
  }

  Status add_message(const LaneMessage& lane) {
    const StepPlace& from = lane.from;
    const StepPlace& to = lane.to;
    if (to.rank < 0) return wrong(from.rank, from.channel, from.step, "the message that it sends is never received");
    const int number = static_cast<int>(run_.messages.size());
    Message message;
    message.from_track = track_at(from);
    message.from_step = from.step;
    message.to_track = track_at(to);
    message.route = &fabric_.route(from.rank, to.rank);
    if (!message.route->connected)
      return wrong(from.rank, from.channel, from.step,
                   fmt::format("the graph \"{}\" has no path to rank {}", fabric_.graph.name, to.rank));
    const StepKind kind = step_at(to).kind;
    const bool reduced = kind == StepKind::RecvReduce || kind == StepKind::RecvReduceSend;
    message.bytes = bytes(from.rank, sent_span(step_at(from)));
    if (reduced ? message.route->reduced_by_receiver : message.route->copied_by_receiver) {
      state_at(to).local_bytes = message.bytes;
      state_at(to).work_bytes = fabric_.work_bytes(to.rank, true, reduced, message.bytes, footprint_);
    }
    message.before = lane.before;
    if (lane.before >= 0) run_.messages[index(lane.before)].after = number;
    state_at(from).sent = number;
    state_at(to).received = number;
    run_.messages.push_back(message);
    return Status();
  }

  int track_at(const StepPlace& place) const { return first_track_[index(place.rank)] + place.channel; }
  const Step& step_at(const StepPlace& place) const {
    return run_.tracks[index(track_at(place))].steps[index(place.step)];
  }
  StepState& state_at(const StepPlace& place) { return run_.state(run_.tracks[index(track_at(place))], place.step); }

  std::uint64_t bytes(int rank, const Span& span) const {
    return elements_of(schedule_, layout_, rank, span, count_) * element_bytes_;
  }

  const Schedule& schedule_;
  Layout layout_;
  std::uint64_t count_;
  DataType dtype_;
  std::size_t element_bytes_;
  FabricState& fabric_;
  Execution run_;
  std::uint64_t footprint_ = 0;   // bytes of the buffers of the rank that has most
  std::vector<int> first_track_;  // by rank
};

}  // namespace

std::uint64_t bytes_of(const Schedule& schedule, int rank, const Span& span, std::uint64_t count, DataType dtype) {
  return elements_of(schedule, layout_of(schedule), rank, span, count) * size_of(dtype);
}

std::uint64_t largest_buffers(const Schedule& schedule, std::uint64_t count, DataType dtype) {
  const Layout layout = layout_of(schedule);
  std::uint64_t most = 0;
  for (int rank = 0; rank < schedule.size; ++rank) {
    most = std::max(most, layout.begin_element(layout.input_chunks(rank), count) +
                              layout.begin_element(layout.output_chunks(rank), count));
  }
  return most * size_of(dtype);
}

Result<Execution> prepare_execution(const Schedule& schedule, std::uint64_t count, DataType dtype,
                                    FabricState& fabric) {
  return Preparation(schedule, count, dtype, fabric).run();
}

}  // namespace weft::algorithms
