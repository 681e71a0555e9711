// Sizes to simulate at, straight lines between them, and what a CostModel remembers.
#include "algorithms/cost.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "algorithms/simulate_lanes.hpp"
#include "base/assert.hpp"
#include "base/heap_bytes.hpp"

namespace weft::algorithms {
namespace {

__extension__ using Wide = __int128;

// Sizes at which schedules are simulated, each when first needed. Between two of them time is nearly a straight line:
// latency plus bytes over a rate; the bends (a message longer than a slice, a second resource that binds) are wider
// than a factor of 4.
constexpr std::array<std::uint64_t, 14> kPointBytes = {8,        64,       256,       1 << 10, 4 << 10,
                                                       16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20,
                                                       16 << 20, 64 << 20, 256 << 20, 1 << 30};

// In bigger groups messages queue for a link instead of sharing it. Where all ranks talk to all others, fair rates take
// time in proportion to the cube of the ranks (0.4 s for one size at 64 ranks); queueing gives times within a percent
// in milliseconds.
constexpr int kMaxFairRanks = 16;

std::int64_t rounded_ratio(Wide numerator, Wide denominator) {
  return static_cast<std::int64_t>((numerator + denominator / 2) / denominator);
}

// The line through two points, at `bytes` at or beyond the first.
std::int64_t on_line(std::uint64_t b0, std::int64_t t0, std::uint64_t b1, std::int64_t t1, std::uint64_t bytes) {
  const Wide rise = static_cast<Wide>(t1) - t0;
  const Wide way = static_cast<Wide>(bytes) - b0;
  const Wide run = static_cast<Wide>(b1) - b0;
  const std::int64_t change = rounded_ratio((rise < 0 ? -rise : rise) * way, run);
  return rise < 0 ? std::max<std::int64_t>(0, t0 - change) : t0 + change;
}

// The simulated sizes that `bytes` lies between; both the same at or below the first. Beyond the last: the last two.
std::pair<std::uint64_t, std::uint64_t> neighbours(std::uint64_t bytes) {
  if (bytes <= kPointBytes.front()) return {kPointBytes.front(), kPointBytes.front()};
  const auto above = std::lower_bound(kPointBytes.begin(), kPointBytes.end() - 1, bytes);
  return *above == bytes ? std::pair(*above, *above) : std::pair(*std::prev(above), *above);
}

std::uint64_t blocks_in_message(Collective collective, int size) {
  switch (collective) {
    case Collective::AllReduce:
    case Collective::Broadcast:
    case Collective::Reduce:
      return 1;
    default:
      return static_cast<std::uint64_t>(size);
  }
}

// Chunks that the busiest rank sends.
std::uint64_t most_sent_chunks(const Schedule& schedule) {
  std::uint64_t most = 0;
  for (const RankProgram& rank : schedule.ranks) {
    std::uint64_t sent = 0;
    for (const std::vector<Step>& steps : rank.channels)
      for (const Step& step : steps)
        if (sends(step.kind)) sent += static_cast<std::uint64_t>(sent_span(step).count);
    most = std::max(most, sent);
  }
  return most;
}

}  // namespace

std::uint64_t count_of_bytes(Collective collective, int size, std::uint64_t bytes, DataType dtype) {
  if (collective == Collective::Barrier) return 0;
  return bytes / blocks_in_message(collective, size) / size_of(dtype);
}

void TimeCurve::add(std::uint64_t bytes, std::int64_t time_ns) {
  const auto [point, added] = points_.emplace(bytes, time_ns);
  if (!added) point->second = std::min(point->second, time_ns);
}

std::int64_t TimeCurve::at(std::uint64_t bytes) const {
  WEFT_ASSERT(!points_.empty());
  auto above = points_.lower_bound(bytes);
  if (above == points_.begin()) return above->second;
  const bool beyond = above == points_.end();
  if (beyond) --above;
  if (points_.size() == 1)
    return above->first == 0 ? above->second : rounded_ratio(static_cast<Wide>(above->second) * bytes, above->first);
  const auto below = std::prev(above);
  const std::int64_t time = on_line(below->first, below->second, above->first, above->second, bytes);
  return beyond ? std::max(time, above->second) : time;
}

CostModel::CostModel(Group group, Fabric fabric, std::string fingerprint, bool calibrated)
    : group_(std::move(group)),
      fabric_(std::move(fabric)),
      fingerprint_(std::move(fingerprint)),
      calibrated_(calibrated) {}

Result<CostModel> CostModel::create(Group group, topology::Graph graph, std::vector<int> placement,
                                    const MeasuredTable* measured) {
  if (placement.size() != static_cast<std::size_t>(group.size))
    return Status(Code::InvalidArgument, "the cost model got a placement of " + std::to_string(placement.size()) +
                                             " ranks for a group of " + std::to_string(group.size));
  std::string fingerprint = topology::fingerprint(graph);
  const bool calibrated = measured != nullptr && measured->fingerprint == fingerprint && !measured->calibration.empty();
  WEFT_TRY_ASSIGN(Fabric fabric, Fabric::create(std::move(graph), std::move(placement),
                                                calibrated ? measured->calibration : Calibration()));
  return CostModel(std::move(group), std::move(fabric), std::move(fingerprint), calibrated);
}

std::uint64_t CostModel::memory_bytes() const {
  std::uint64_t bytes = sizeof(CostModel) + fabric_.memory_bytes() + base::heap_bytes(fingerprint_);
  for (const auto* orders : {&group_.rings, &group_.hosts})
    for (const std::vector<int>& order : *orders) bytes += sizeof(order) + order.capacity() * sizeof(int);
  for (const Tree& tree : group_.trees) {
    bytes += sizeof(tree) + tree.parent.capacity() * sizeof(int);
    for (const std::vector<int>& children : tree.children)
      bytes += sizeof(children) + children.capacity() * sizeof(int);
  }
  const auto add = [&](const auto& curves) {
    for (const auto& [key, curve] : curves) {
      bytes += base::kTreeNodeBytes + sizeof(key) + sizeof(curve);
      for (const auto& [size, point] : curve.points)
        bytes += base::kTreeNodeBytes + sizeof(size) + sizeof(point) + base::heap_bytes(point.critical.bottleneck);
      bytes += curve.least_ns.size() * (base::kTreeNodeBytes + sizeof(std::uint64_t) + sizeof(std::int64_t));
    }
  };
  add(curves_);
  add(loaded_curves_);
  return bytes;
}

Status CostModel::simulate_points(const Schedule& schedule, const std::vector<std::uint64_t>& sizes, Curve& curve) {
  const std::uint64_t blocks = blocks_in_message(schedule.collective, group_.size);
  const std::uint64_t chunks = blocks * static_cast<std::uint64_t>(schedule.chunks_per_block);
  const std::uint64_t sent = most_sent_chunks(schedule);
  const std::uint64_t common = std::gcd(sent, chunks);
  curve.sent_numerator = sent / common;
  curve.sent_denominator = chunks / common;

  SimulationOptions options;
  options.timeline = false;
  options.sharing = group_.size <= kMaxFairRanks ? Sharing::MaxMin : Sharing::Queue;
  for (const std::uint64_t bytes : sizes) {
    const std::uint64_t count = count_of_bytes(schedule.collective, group_.size, bytes + blocks - 1);
    WEFT_TRY_ASSIGN(Simulation simulation, simulate(schedule, count, DataType::UInt8, fabric_, options));
    constexpr std::int64_t kPsPerNs = 1000;
    curve.points[bytes] = {rounded_ratio(simulation.makespan_ps, kPsPerNs), std::move(simulation.critical)};
  }
  return Status();
}

template <typename Build>
Result<Estimate> CostModel::estimate_on(Curve& curve, std::uint64_t bytes, const Build& build) {
  const auto [low, high] = neighbours(bytes);
  std::vector<std::uint64_t> missing;
  for (const std::uint64_t size : {low, high})
    if (!curve.points.contains(size)) missing.push_back(size);
  if (!missing.empty()) WEFT_TRY(simulate_points(build(), missing, curve));

  const Point& below = curve.points.at(low);
  const Point& above = curve.points.at(high);
  TimeCurve line;
  line.add(low, below.time_ns);
  line.add(high, above.time_ns);
  const bool nearer_below = bytes <= low || (bytes < high && bytes - low < high - bytes);
  return Estimate{line.at(std::max(bytes, low)), (nearer_below ? below : above).critical, curve.sent_numerator,
                  curve.sent_denominator};
}

Result<Estimate> CostModel::estimate(const Algorithm& algorithm, int replicas, std::uint64_t bytes) {
  return estimate_on(curves_[{algorithm.collective, algorithm.name, replicas}], bytes,
                     [&] { return build_schedule(algorithm, group_, {.replicas = replicas}); });
}

Result<Estimate> CostModel::estimate(const LoadedSchedule& loaded, std::uint64_t bytes) {
  WEFT_ASSERT(loaded.size() == group_.size);
  return estimate_on(loaded_curves_[&loaded], bytes, [&]() -> const Schedule& { return loaded.out_of_place; });
}

// The line between two points is nowhere below the lower of them.
Result<std::int64_t> CostModel::least_ns(const Algorithm& algorithm, int replicas, std::uint64_t bytes) {
  if (group_.size <= kMaxFairRanks) return 0;
  Curve& curve = curves_[{algorithm.collective, algorithm.name, replicas}];
  const auto [low, high] = neighbours(bytes);
  std::vector<std::uint64_t> missing;
  for (const std::uint64_t size : {low, high}) {
    if (curve.points.contains(size)) return 0;
    if (!curve.least_ns.contains(size)) missing.push_back(size);
  }
  if (!missing.empty()) {
    constexpr int kRank = 0;
    const Schedule schedule = build_schedule(algorithm, group_, {.replicas = replicas, .only_rank = kRank});
    const std::uint64_t blocks = blocks_in_message(algorithm.collective, group_.size);
    for (const std::uint64_t size : missing) {
      const std::uint64_t count = count_of_bytes(algorithm.collective, group_.size, size + blocks - 1);
      WEFT_TRY_ASSIGN(const std::int64_t ps, least_ps(schedule, kRank, count, DataType::UInt8, fabric_));
      constexpr std::int64_t kPsPerNs = 1000;
      curve.least_ns[size] = ps / kPsPerNs;
    }
  }
  return std::min(curve.least_ns.at(low), curve.least_ns.at(high));
}

}  // namespace weft::algorithms
