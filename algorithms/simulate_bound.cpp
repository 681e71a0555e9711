// What one rank cannot be faster than, read off its own steps. It spares large groups the simulation of algorithms that
// cannot win, and the building of all ranks' steps, which takes as long.
#include <algorithm>

#include "algorithms/simulate_flows.hpp"
#include "algorithms/simulate_lanes.hpp"
#include "algorithms/simulate_state.hpp"

namespace weft::algorithms {
namespace {

// The rank's part, step by step.
struct Bound {
  const Schedule& schedule;
  int rank;
  std::uint64_t count;
  DataType dtype;
  FabricState& fabric;
  std::uint64_t footprint = 0;
  std::int64_t overhead_ps = 0;  // of the channel at hand
  std::uint64_t core_bytes = 0;  // that the core moves

  void add(const Step& step) {
    const int core = fabric.local_resource[static_cast<std::size_t>(rank)];
    if (const int from = sender_of(step); from >= 0) {
      const Route& route = fabric.route(from, rank);
      const bool reduced = step.kind == StepKind::RecvReduce || step.kind == StepKind::RecvReduceSend;
      overhead_ps += route.receive_overhead_ps;
      if (reduced ? route.reduced_by_receiver : route.copied_by_receiver)
        core_bytes +=
            fabric.work_bytes(rank, true, reduced, bytes_of(schedule, rank, step.dst, count, dtype), footprint);
    }
    if (const int to = receiver_of(step); to >= 0) {
      const Route& route = fabric.route(rank, to);
      overhead_ps += route.send_overhead_ps;
      if (std::binary_search(route.resources.begin(), route.resources.end(), core))
        core_bytes += bytes_of(schedule, rank, sent_span(step), count, dtype);
    }
  }
};

}  // namespace

Result<std::int64_t> least_ps(const Schedule& schedule, int rank, std::uint64_t count, DataType dtype, Fabric& fabric) {
  FabricState& state = *fabric.state_;
  Bound bound{schedule, rank, count, dtype, state};
  bound.footprint = largest_buffers(schedule, count, dtype);
  std::int64_t longest_channel_ps = 0;
  std::int64_t all_channels_ps = 0;
  for (const std::vector<Step>& steps : schedule.ranks[static_cast<std::size_t>(rank)].channels) {
    bound.overhead_ps = 0;
    for (const Step& step : steps) bound.add(step);
    longest_channel_ps = std::max(longest_channel_ps, bound.overhead_ps);
    all_channels_ps += bound.overhead_ps;
  }
  const bool gpu = state.on_gpu[static_cast<std::size_t>(rank)];
  if (gpu) return state.start_ps + longest_channel_ps;
  const int core = state.local_resource[static_cast<std::size_t>(rank)];
  const std::int64_t moving_ps =
      transfer_ps(bound.core_bytes, state.capacities(bound.footprint)[static_cast<std::size_t>(core)]);
  return state.start_ps + std::max(all_channels_ps, moving_ps);
}

}  // namespace weft::algorithms
