// The first ranks of the hosts send to each other: two alone, so that each host's own link shows, then all at once, so
// that what they share does. Links say nothing useful about themselves: a veth shaped to 200 Mbit/s claims 10,000.
#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "bench/weft-bench/buffer.hpp"
#include "bench/weft-bench/calibrate.hpp"
#include "bench/weft-bench/timing.hpp"

namespace weft::bench {
namespace {

constexpr std::uint64_t kLine = 8;
// Long enough that what a shaped link lets through at once (128 KiB or a millisecond) counts little.
constexpr std::uint64_t kBulk = 2 << 20;
constexpr int kMaxHostsInPairs = 8;  // up to here every host meets every other one; beyond, its next two
constexpr TimingSettings kLatencyTiming = {.iterations = 0, .warmup = 5, .budget_s = 0.02};
constexpr TimingSettings kBulkTiming = {.iterations = 4, .warmup = 1, .budget_s = 0};
constexpr double kShared = 1.2;  // so much longer than the slowest link explains: there is something that hosts share

struct NetworkTimes {
  double call = 0;
  double flood = 0;          // of the fastest pair
  double latency = 0;        // a message of a line, one way, of the median pair
  std::vector<double> up;    // by host: microseconds for kBulk, to the host that takes it fastest
  std::vector<double> down;  // likewise
  double together = 0;       // kBulk from every host to every other one, round a ring
};

std::vector<std::pair<int, int>> pairs_of(int hosts) {
  std::vector<std::pair<int, int>> pairs;
  for (int a = 0; a < hosts; ++a) {
    const int most = hosts <= kMaxHostsInPairs ? hosts - 1 - a : 2;
    for (int way = 1; way <= most; ++way) pairs.emplace_back(a, (a + way) % hosts);
  }
  return pairs;
}

// The part of a host's first rank.
class Leader {
 public:
  Leader(Communicator& leaders, Buffer buffer) : leaders_(leaders), buffer_(std::move(buffer)) {
    memory_ = buffer_.place(kBulk * static_cast<std::uint64_t>(leaders.size()));
    std::fill(memory_.begin(), memory_.end(), std::byte{0});
  }

  Result<NetworkTimes> measure() {
    NetworkTimes times;
    const auto hosts = static_cast<std::size_t>(leaders_.size());
    times.up.assign(hosts, 0);
    times.down.assign(hosts, 0);
    WEFT_TRY_ASSIGN(Communicator alone, leaders_.split(-1, 0));
    const Operation call = all_gather(memory_.data(), memory_.data(), kLine, DataType::UInt8);
    WEFT_TRY_ASSIGN(times.call, median(alone, {call}, kLatencyTiming));
    WEFT_TRY(agree_on_max(leaders_, std::span(&times.call, 1)));
    for (const auto& [a, b] : pairs_of(leaders_.size())) WEFT_TRY(meet(a, b, times));
    times.latency = quantile(latencies_, 0.5);
    WEFT_TRY(leaders_.set_algorithms("all_gather:ring@1"));
    const std::byte* const own = memory_.data() + static_cast<std::uint64_t>(leaders_.rank()) * kBulk;
    WEFT_TRY_ASSIGN(times.together,
                    median(leaders_, {all_gather(own, memory_.data(), kBulk, DataType::UInt8)}, kBulkTiming));
    return times;
  }

 private:
  // Two hosts, while the others wait.
  Status meet(int a, int b, NetworkTimes& times) {
    const int rank = leaders_.rank();
    const bool takes_part = rank == a || rank == b;
    WEFT_TRY_ASSIGN(Communicator pair, leaders_.split(takes_part ? 0 : -1, rank == a ? 0 : 1));
    std::vector<double> us(4, 0);  // flood, latency, a to b, b to a
    if (takes_part) {
      WEFT_TRY(pair.set_algorithms("broadcast:direct@1"));
      WEFT_TRY_ASSIGN(us[0], median(pair, {send(pair, 0, kLine)}, kLatencyTiming));
      WEFT_TRY_ASSIGN(us[1], median(pair, {send(pair, 0, kLine), send(pair, 1, kLine)}, kLatencyTiming));
      WEFT_TRY_ASSIGN(us[2], median(pair, {send(pair, 0, kBulk)}, kBulkTiming));
      WEFT_TRY_ASSIGN(us[3], median(pair, {send(pair, 1, kBulk)}, kBulkTiming));
    }
    WEFT_TRY(agree_on_max(leaders_, us));
    const auto fastest = [](double& least, double one) { least = least == 0 ? one : std::min(least, one); };
    fastest(times.flood, us[0]);
    latencies_.push_back(us[1]);
    for (const auto& [from, to, bulk] : {std::tuple(a, b, us[2]), std::tuple(b, a, us[3])}) {
      fastest(times.up[static_cast<std::size_t>(from)], bulk);
      fastest(times.down[static_cast<std::size_t>(to)], bulk);
    }
    return {};
  }

  Operation send(Communicator& pair, int root, std::uint64_t bytes) {
    void* const data = memory_.data();
    return broadcast(pair.rank() == root ? data : nullptr, data, bytes, DataType::UInt8, root);
  }

  static Result<double> median(Communicator& communicator, const std::vector<Operation>& calls,
                               const TimingSettings& settings) {
    WEFT_TRY_ASSIGN(const Timing timing, time_calls(communicator, calls, settings));
    return timing.median_us;
  }

  Communicator& leaders_;
  Buffer buffer_;
  std::span<std::byte> memory_;
  std::vector<double> latencies_;  // by pair
};

std::int64_t picoseconds(double us) { return std::llround(std::max(0.0, us) * 1e6); }
std::int64_t rate(double bytes, double us) {
  return std::max<std::int64_t>(1, std::llround(bytes / std::max(us, 1e-3)));
}

algorithms::NetworkCalibration network_of(const NetworkTimes& times) {
  algorithms::NetworkCalibration network;
  const double overhead_us = std::clamp(times.flood - times.call, 0.0, times.latency / 4);
  network.call_ps = picoseconds(times.call);
  network.overhead_ps = picoseconds(overhead_us);
  network.latency_ps = picoseconds(times.latency - times.call - 2 * overhead_us);
  double slowest_us = 0;
  const auto hosts = static_cast<double>(times.up.size());
  for (std::size_t host = 0; host < times.up.size(); ++host) {
    network.hosts.push_back({rate(kBulk, times.up[host]), rate(kBulk, times.down[host])});
    slowest_us = std::max({slowest_us, times.up[host], times.down[host]});
  }
  const double steps = hosts - 1;
  if (times.together > kShared * steps * slowest_us) network.together = rate(hosts * steps * kBulk, times.together);
  return network;
}

}  // namespace

Result<std::optional<algorithms::NetworkCalibration>> calibrate_network(Communicator& communicator,
                                                                        const HostOfRank& hosts) {
  const int count = *std::max_element(hosts.begin(), hosts.end()) + 1;
  if (count < 2) return std::optional<algorithms::NetworkCalibration>();
  const auto first = std::find(hosts.begin(), hosts.end(), hosts[static_cast<std::size_t>(communicator.rank())]);
  const bool leads = first - hosts.begin() == communicator.rank();
  WEFT_TRY_ASSIGN(Communicator leaders, communicator.split(leads ? 0 : -1, communicator.rank()));
  std::optional<algorithms::NetworkCalibration> network;
  if (leads) {
    WEFT_TRY_ASSIGN(Buffer buffer, Buffer::allocate(kBulk * static_cast<std::uint64_t>(count)));
    WEFT_TRY_ASSIGN(const NetworkTimes times, Leader(leaders, std::move(buffer)).measure());
    network = network_of(times);
  }
  WEFT_TRY(communicator.barrier());
  return network;
}

}  // namespace weft::bench
