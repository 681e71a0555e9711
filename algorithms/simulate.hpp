// simulate: runs a schedule on clocks and shared links instead of memory and endpoints, and says how long it takes,
// where the time goes and which link binds. The model is described in docs/selection.md.
//
// All arithmetic is in integers, so every machine gets the same answer: ranks choose by it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/calibration.hpp"
#include "weft/graph.hpp"
#include "weft/schedule.hpp"
#include "weft/status.hpp"
#include "weft/types.hpp"

namespace weft::algorithms {

// How messages that cross one link share it.
enum class Sharing : std::uint8_t {
  MaxMin,  // as flows with max-min fair rates, recomputed whenever one starts or ends
  Queue,   // one after another in the order of posting: cheaper, for big groups
};

struct SimulationOptions {
  std::uint64_t slice_bytes = 64 * 1024;  // the engine's: a fused step forwards slice by slice
  Sharing sharing = Sharing::MaxMin;
  bool timeline = true;  // fill Simulation::timeline
};

// One step, from the moment the channel reached it to the moment the channel left it.
struct SimulatedStep {
  int rank = 0;
  int channel = 0;
  int step = 0;
  StepKind kind = StepKind::Copy;
  int peer = -1;            // Send: receiver; Recv*: sender
  std::uint64_t bytes = 0;  // sent, received or copied
  std::int64_t start_ps = 0;
  std::int64_t end_ps = 0;

  bool operator==(const SimulatedStep&) const = default;
};

// One message, from posting to the arrival of its last byte.
struct SimulatedMessage {
  int from = 0;
  int to = 0;
  int channel = 0;
  std::uint64_t bytes = 0;
  std::int64_t posted_ps = 0;
  std::int64_t start_ps = 0;  // first byte leaves
  std::int64_t end_ps = 0;    // last byte left: the source is free
  std::int64_t arrival_ps = 0;

  bool operator==(const SimulatedMessage&) const = default;
};

// One direction of a link, or a core (it copies its ranks' messages in and out, one at a time).
struct ResourceUse {
  std::string name;  // "gpu3 -> nvswitch0", "host1/nic0 -> network", "core of rank 5", "core of ranks 1, 5"
  std::uint64_t bytes = 0;
  std::int64_t busy_ps = 0;   // time in which at least one message used it
  std::int64_t capacity = 0;  // bytes per microsecond
  int link = -1;              // index in Graph::links; -1: a core, or what was measured of a host's links

  bool operator==(const ResourceUse&) const = default;
};

// What the longest chain of causes, from the start to the last step's end, was made of. The parts sum up to the
// makespan.
struct CriticalPath {
  int messages = 0;              // how many messages, one after another
  std::int64_t latency_ps = 0;   // paths' latency and the software's overhead per message
  std::int64_t transfer_ps = 0;  // bytes on the way
  std::int64_t local_ps = 0;     // copies and reductions
  std::string bottleneck;        // the resource that bound most of transfer and local time; "" if there is none

  bool operator==(const CriticalPath&) const = default;
};

struct Simulation {
  std::int64_t makespan_ps = 0;
  std::vector<std::int64_t> rank_end_ps;
  std::vector<SimulatedStep> timeline;     // by rank, channel, step; empty without SimulationOptions::timeline
  std::vector<SimulatedMessage> messages;  // by sender, channel, step; likewise
  std::vector<ResourceUse> resources;      // those used, busiest first, then by name
  CriticalPath critical;

  bool operator==(const Simulation&) const = default;
};

struct FabricState;

// A graph and a placement made ready for many simulations: capacities in integers, the best path of each pair (found
// when first needed). One thread at a time.
class Fabric {
 public:
  // With what was measured on this very graph, where something was: `calibration` says what is otherwise assumed.
  // InvalidArgument names the rank whose node does not exist.
  static Result<Fabric> create(topology::Graph graph, std::vector<int> placement, const Calibration& calibration = {});

  Fabric(Fabric&&) noexcept;
  Fabric& operator=(Fabric&&) noexcept;
  ~Fabric();

  int ranks() const;
  const topology::Graph& graph() const;
  const std::vector<int>& placement() const;
  bool on_gpus() const;                // every rank runs on one
  std::uint64_t memory_bytes() const;  // about, with the graph

 private:
  friend class Simulator;
  friend Result<std::int64_t> least_ps(const Schedule& schedule, int rank, std::uint64_t count, DataType dtype,
                                       Fabric& fabric);
  explicit Fabric(std::unique_ptr<FabricState> state);
  std::unique_ptr<FabricState> state_;
};

// Runs `schedule`, which must hold the steps of all ranks, for `count` elements per block (as in Operation).
// InvalidArgument if the schedule and the fabric do not have the same number of ranks, if two ranks that exchange
// messages have no path, or if the schedule hangs or leaves messages over (verify says more about that).
Result<Simulation> simulate(const Schedule& schedule, std::uint64_t count, DataType dtype, Fabric& fabric,
                            const SimulationOptions& options = {});

// What the steps of `rank` take at least, whatever the other ranks do: their software's overhead, and what its core
// moves. Of the schedule it needs that rank's steps only. No simulation ends earlier.
Result<std::int64_t> least_ps(const Schedule& schedule, int rank, std::uint64_t count, DataType dtype, Fabric& fabric);

}  // namespace weft::algorithms
