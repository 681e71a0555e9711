// What a running simulation knows of each step and message; shared by the part that runs it and the part that reports.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/simulate.hpp"
#include "algorithms/simulate_fabric.hpp"
#include "algorithms/simulate_flows.hpp"

namespace weft::algorithms {

// What a step had to wait for, if it had to.
struct Gate {
  enum class Kind : std::uint8_t { None, Head, Arrival, End };
  Kind kind = Kind::None;
  int message = -1;
};

struct StepState {
  int received = -1;              // message that a receiving step takes
  int sent = -1;                  // message that a sending step posts
  std::uint64_t local_bytes = 0;  // that a Copy or Reduce writes, or a receiving step takes out of its message itself
  std::uint64_t work_bytes = 0;   // the same as work of the core
  Gate gate;                      // last thing waited for before the step's own work
  Gate tail;                      // fused steps: whether the rest of the message came later than the own work
  std::int64_t start_ps = 0;      // the channel reached the step
  std::int64_t open_ps = 0;       // all gates were open: the step's own work began
  std::int64_t worked_ps = 0;     // the own work was done; what is to be sent was posted
  std::int64_t taken_ps = 0;      // what of the message had come was taken out of it
  std::int64_t end_ps = 0;
};

// The steps of one channel of one rank.
struct Track {
  enum class Phase : std::uint8_t { Reach, Gated, Work, Take, Tail };
  int rank = 0;
  int channel = 0;
  std::span<const Step> steps;
  int first_state = 0;  // of its steps in the list of all
  int position = 0;
  Phase phase = Phase::Reach;
  Gate blocked_on;
};

struct Message {
  int from_track = -1;
  int from_step = -1;
  int to_track = -1;  // -1: nobody receives it
  const Route* route = nullptr;
  std::uint64_t bytes = 0;
  int before = -1;  // the previous message of the same sender, receiver and channel
  int after = -1;
  int upstream = -1;  // the message whose bytes it passes on, slice by slice
  int downstream = -1;
  bool posted = false;
  bool drained = false;  // all its bytes could have left, but the upstream message has not arrived yet
  bool head_arrived = false;
  bool ended = false;
  bool arrived = false;
  bool ended_by_upstream = false;
  bool receiver_waits = false;
  bool sender_waits = false;
  std::int64_t posted_ps = 0;
  std::int64_t start_ps = 0;
  std::int64_t head_ps = 0;  // the first slice has left
  std::int64_t end_ps = 0;
  std::int64_t arrival_ps = 0;

  std::int64_t latency_ps() const { return bytes > kLineBytes ? route->slot_latency_ps : route->latency_ps; }
};

struct Execution {
  std::vector<Track> tracks;             // by rank, then channel
  std::vector<StepState> states;         // by track, then step
  std::vector<Message> messages;         // by sending track, then step
  std::vector<std::int64_t> capacities;  // by resource
  std::int64_t start_ps = 0;

  const StepState& state(const Track& track, int step) const {
    return states[static_cast<std::size_t>(track.first_state + step)];
  }
  StepState& state(const Track& track, int step) { return states[static_cast<std::size_t>(track.first_state + step)]; }
};

// Bytes of a span of the rank's memory: of its chunks, for `count` elements per block.
std::uint64_t bytes_of(const Schedule& schedule, int rank, const Span& span, std::uint64_t count, DataType dtype);
// Bytes of input and output of the rank that has most: by them it is known in which cache they lie.
std::uint64_t largest_buffers(const Schedule& schedule, std::uint64_t count, DataType dtype);

// Numbers tracks and messages and pairs sends with receives. InvalidArgument if that cannot be done.
Result<Execution> prepare_execution(const Schedule& schedule, std::uint64_t count, DataType dtype, FabricState& fabric);

// Reads the finished execution.
Simulation report(const Execution& execution, const Flows& flows, const FabricState& fabric, bool timeline);

}  // namespace weft::algorithms
