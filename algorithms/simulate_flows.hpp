// Flows: bytes on their way over shared resources. Two ways of sharing behind one interface; time in picoseconds,
// everything in integers, and no result depends on the order in which flows of one instant were started.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/simulate.hpp"

namespace weft::algorithms {

// A flow has two milestones: its first `head_bytes` are through, and all of it is through.
struct Milestone {
  std::int64_t time_ps = 0;
  int flow = -1;
  bool last = false;  // all of it; else the head
};

class Flows {
 public:
  virtual ~Flows() = default;

  // Flow numbers are the caller's, 0 .. flows-1 of make_flows. `resources` must outlive the flow and hold each number
  // once. 0 < head_bytes <= bytes; where they are equal there is only the last milestone.
  virtual void start(int flow, std::span<const int> resources, std::uint64_t bytes, std::uint64_t head_bytes,
                     std::int64_t now_ps) = 0;
  // Takes the earliest milestone at or before `limit_ps`, lowest flow number first; false if there is none. The caller
  // starts no flow before `limit_ps` after that.
  virtual bool next(std::int64_t limit_ps, Milestone* milestone) = 0;
  // The resource that set the flow's pace last.
  virtual int binding_resource(int flow) const = 0;
  // Time in which at least one flow used the resource.
  virtual std::int64_t busy_ps(int resource) const = 0;
};

// `capacities` in bytes per microsecond.
std::unique_ptr<Flows> make_flows(Sharing sharing, std::vector<std::int64_t> capacities, int flows);

// Time for bytes at a rate, rounded up.
std::int64_t transfer_ps(std::uint64_t bytes, std::int64_t bytes_per_us);

}  // namespace weft::algorithms
