// The inside of a Fabric: links and cores as numbered resources with integer capacities, and the route of each pair of
// ranks.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "algorithms/simulate.hpp"

namespace weft::algorithms {

// Resources are numbered by name, so that no result depends on the order in which a graph was put together.
struct Resource {
  std::string name;
  std::int64_t capacity = 1;  // bytes per microsecond, at least 1
  int link = -1;              // index in Graph::links; -1: a core, memory, or what was measured of a host's links
  bool forward = true;
  int rank = -1;                           // of a core or memory: the first rank that uses it
  const HostCalibration* rates = nullptr;  // of a core; null: its capacity holds for all sizes
};

// How a message gets from one rank to another. Without a path, `connected` is false.
struct Route {
  bool connected = false;
  std::vector<int> resources;        // what every byte passes: links, and the sender's core where it copies; sorted
  bool copied_by_receiver = false;   // whose core then takes the bytes out of the message, as a part of its step
  bool reduced_by_receiver = false;  // the same for a message that is reduced where it arrives
  std::int64_t latency_ps = 0;       // of a message of up to kLineBytes
  std::int64_t slot_latency_ps = 0;  // of a longer one
  std::int64_t send_overhead_ps = 0;
  std::int64_t receive_overhead_ps = 0;
};

// What was measured of the hosts' links, as resources; empty where nothing was.
struct HostWays {
  std::vector<int> up;  // by host
  std::vector<int> down;
  int together = -1;  // what all share; -1: nothing
};

struct FabricState {
  topology::Graph graph;
  Calibration calibration;
  std::vector<int> placement;
  std::vector<Resource> resources;
  std::vector<int> link_resource[2];  // by link; [1]: forward
  std::vector<int> local_resource;    // by rank; ranks that share a core have one
  std::vector<int> ranks_per_core;    // by rank
  HostWays ways;
  std::vector<bool> on_gpu;   // by rank
  std::int64_t start_ps = 0;  // from the call to the first step
  std::unordered_map<std::uint64_t, Route> routes;

  const Route& route(int from, int to);
  // Bytes per microsecond of each resource in a call in which a rank's buffers hold `footprint` bytes.
  std::vector<std::int64_t> capacities(std::uint64_t footprint) const;
  // Work of a rank's core in bytes written into messages, which is what its capacity counts.
  std::uint64_t work_bytes(int rank, bool message, bool reduced, std::uint64_t bytes, std::uint64_t footprint) const;

 private:
  bool crosses_measured_network(int from, int to) const;
  Route make_route(int from, int to) const;
};

}  // namespace weft::algorithms
