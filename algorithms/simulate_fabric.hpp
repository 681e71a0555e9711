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
  int link = -1;              // index in Graph::links; -1: the core or memory of a rank
  bool forward = true;
  int rank = -1;
};

// How a message gets from one rank to another. Without a path, `connected` is false.
struct Route {
  bool connected = false;
  std::vector<int> resources;           // what every byte passes: links, and the cores that copy; sorted
  std::vector<int> reducing_resources;  // the same for a message that is reduced where it arrives
  std::int64_t capacity = 1;            // bytes per microsecond of the narrowest of `resources`
  std::int64_t latency_ps = 0;
  std::int64_t send_overhead_ps = 0;
  std::int64_t receive_overhead_ps = 0;
};

struct FabricState {
  topology::Graph graph;
  std::vector<int> placement;
  std::vector<Resource> resources;
  std::vector<int> link_resource[2];  // by link; [1]: forward
  std::vector<int> local_resource;    // by rank
  std::vector<bool> on_gpu;           // by rank
  std::int64_t start_ps = 0;          // from the call to the first step
  std::unordered_map<std::uint64_t, Route> routes;

  const Route& route(int from, int to);

 private:
  Route make_route(int from, int to) const;
};

}  // namespace weft::algorithms
