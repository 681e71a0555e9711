// cost: how long an algorithm takes at n bytes, read off simulations of its schedule at a few sizes and interpolated
// between them.
//
// A CostModel belongs to one group on one graph and keeps what it has simulated. Integers only, so all ranks agree.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "algorithms/loaded_schedules.hpp"
#include "algorithms/measured_table.hpp"
#include "algorithms/simulate.hpp"
#include "weft/group.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {

// Time over size, piecewise linear. Used for simulated points and for measured ones.
class TimeCurve {
 public:
  // Of points of equal size the smaller time counts.
  void add(std::uint64_t bytes, std::int64_t time_ns);
  bool empty() const { return points_.empty(); }
  // Between two points: the straight line, rounded to nearest. Below the first: its time. Beyond the last: the last
  // line goes on; where there is only one point, in proportion to the bytes. Only if not empty().
  std::int64_t at(std::uint64_t bytes) const;

 private:
  std::map<std::uint64_t, std::int64_t> points_;
};

struct Estimate {
  std::int64_t time_ns = 0;  // at the bytes asked for
  // To explain it by: the critical path at the nearest simulated size, and that the busiest rank sends
  // sent_numerator / sent_denominator times the message's bytes.
  CriticalPath critical;
  std::uint64_t sent_numerator = 0;
  std::uint64_t sent_denominator = 1;

  bool operator==(const Estimate&) const = default;
};

// Elements per block (as in Operation) of a call of so many bytes (as in message_bytes), rounded down; 0 for a barrier.
std::uint64_t count_of_bytes(Collective collective, int size, std::uint64_t bytes, DataType dtype = DataType::UInt8);

class CostModel {
 public:
  // `placement` maps ranks to nodes of `graph`. What was measured counts if it was on this topology; `measured` may be
  // null. InvalidArgument if group, graph and placement do not fit together.
  static Result<CostModel> create(Group group, topology::Graph graph, std::vector<int> placement,
                                  const MeasuredTable* measured = nullptr);

  const Group& group() const { return group_; }
  const topology::Graph& graph() const { return fabric_.graph(); }
  const Fabric& fabric() const { return fabric_; }
  const std::string& fingerprint() const { return fingerprint_; }
  // About what it takes, with the graph and all that was simulated.
  std::uint64_t memory_bytes() const;
  // Whether it goes by what was measured.
  bool calibrated() const { return calibrated_; }

  // `algorithm` on `replicas` times its native channels for `bytes` (message_bytes of the call). The algorithm must
  // support the request. The root and the element type do not enter: schedules are read for root 0 and bytes.
  Result<Estimate> estimate(const Algorithm& algorithm, int replicas, std::uint64_t bytes);
  // `loaded`, which outlives the model, must be of the group's size.
  Result<Estimate> estimate(const LoadedSchedule& loaded, std::uint64_t bytes);

  // What estimate() gives at least, found without the steps of all ranks: for large groups, where these take long. For
  // others, and where the estimate is known already, it is 0: ask for the estimate.
  Result<std::int64_t> least_ns(const Algorithm& algorithm, int replicas, std::uint64_t bytes);

 private:
  struct Point {
    std::int64_t time_ns = 0;
    CriticalPath critical;
  };
  struct Curve {
    std::map<std::uint64_t, Point> points;  // by bytes
    std::uint64_t sent_numerator = 0;
    std::uint64_t sent_denominator = 1;
    std::map<std::uint64_t, std::int64_t> least_ns;  // by bytes, of points that were not simulated
  };
  CostModel(Group group, Fabric fabric, std::string fingerprint, bool calibrated);
  // `build()` gives the schedule, which is asked for where simulations are missing.
  template <typename Build>
  Result<Estimate> estimate_on(Curve& curve, std::uint64_t bytes, const Build& build);
  Status simulate_points(const Schedule& schedule, const std::vector<std::uint64_t>& sizes, Curve& curve);

  Group group_;
  Fabric fabric_;
  std::string fingerprint_;
  bool calibrated_;
  std::map<std::tuple<Collective, std::string_view, int>, Curve> curves_;  // by collective, algorithm and replicas
  std::map<const LoadedSchedule*, Curve> loaded_curves_;
};

}  // namespace weft::algorithms
