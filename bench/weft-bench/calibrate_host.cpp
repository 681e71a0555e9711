// Pairs of neighbours on each host send to and fro, all pairs at once, so that shared cores and caches count as they do
// in a collective.
#include <algorithm>
#include <array>
#include <span>

#include "bench/weft-bench/buffer.hpp"
#include "bench/weft-bench/calibrate.hpp"
#include "bench/weft-bench/machine.hpp"
#include "bench/weft-bench/timing.hpp"

namespace weft::bench {
namespace {

constexpr std::uint64_t kLine = 8;
constexpr std::array<std::uint64_t, 12> kSizes = {4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10,
                                                  1 << 20, 2 << 20,  4 << 20,  8 << 20,   16 << 20,  32 << 20};
constexpr int kRepeats = 3;  // of which the fastest counts: a machine is slower than it can be, never faster
constexpr TimingSettings kTiming = {.iterations = 0, .warmup = 2, .budget_s = 0.004};

// How many processors the ranks of a host may run on, all together.
Result<int> processors_of(Communicator& host) {
  constexpr std::size_t kMostProcessors = 4096;
  std::vector<std::uint8_t> allowed(kMostProcessors, 0);
  for (const int cpu : allowed_cores()) allowed[std::min(static_cast<std::size_t>(cpu), kMostProcessors - 1)] = 1;
  WEFT_TRY(host.all_reduce(allowed.data(), allowed.data(), allowed.size(), DataType::UInt8, ReduceOp::Max));
  return std::max(1, static_cast<int>(std::count(allowed.begin(), allowed.end(), 1)));
}

// One rank's part. Who has no partner waits for the others between measurements.
class Pair {
 public:
  Pair(Communicator& host, Communicator& pair, Communicator& alone, Buffer buffer)
      : host_(host), pair_(pair), alone_(alone), buffer_(std::move(buffer)) {
    memory_ = buffer_.place(kSizes.back());
    std::fill(memory_.begin(), memory_.end(), std::byte{0});
  }

  Result<HostTimes> measure() {
    WEFT_TRY(pair_.set_algorithms("broadcast:direct@1;reduce:direct@1;all_gather:direct@1"));
    HostTimes times;
    WEFT_TRY_ASSIGN(times.call, least(alone_, {copy(0, kLine)}));
    WEFT_TRY_ASSIGN(times.flood, of_pair({send(0, kLine)}));
    WEFT_TRY_ASSIGN(times.line, of_pair({send(0, kLine), send(1, kLine)}));
    WEFT_TRY_ASSIGN(times.short_slot, of_pair({send(0, kShortSlotBytes), send(1, kShortSlotBytes)}));
    for (const std::uint64_t bytes : kSizes) {
      SizeTimes size{bytes};
      WEFT_TRY_ASSIGN(size.one_way, of_pair({send(0, bytes), send(1, bytes)}));
      WEFT_TRY_ASSIGN(size.reduce, of_pair({reduce(0, bytes), reduce(1, bytes)}));
      WEFT_TRY_ASSIGN(size.exchange, of_pair({exchange(bytes / 2)}));
      WEFT_TRY(host_.barrier());
      WEFT_TRY_ASSIGN(size.copy, least(alone_, {copy(bytes / 2, bytes / 2)}));
      times.sizes.push_back(size);
    }
    return times;
  }

 private:
  // With roots in turn each call waits for the one before, as messages to and fro do.
  Operation send(int root, std::uint64_t bytes) {
    void* const data = memory_.data();
    return broadcast(pair_.rank() == root ? data : nullptr, data, bytes, DataType::UInt8, root);
  }
  Operation reduce(int root, std::uint64_t bytes) {
    void* const data = memory_.data();
    return weft::reduce(data, pair_.rank() == root ? data : nullptr, bytes / sizeof(float), DataType::Float32,
                        ReduceOp::Sum, root);
  }
  Operation exchange(std::uint64_t bytes) {
    return all_gather(memory_.data() + static_cast<std::uint64_t>(pair_.rank()) * bytes, memory_.data(), bytes,
                      DataType::UInt8);
  }
  Operation copy(std::uint64_t offset, std::uint64_t bytes) {
    return all_gather(memory_.data(), memory_.data() + offset, bytes, DataType::UInt8);
  }

  Result<double> of_pair(std::vector<Operation> calls) {
    WEFT_TRY(host_.barrier());
    if (pair_.size() < 2) return 0.0;
    return least(pair_, calls);
  }

  static Result<double> least(Communicator& communicator, const std::vector<Operation>& calls) {
    double us = 0;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      WEFT_TRY_ASSIGN(const Timing timing, time_calls(communicator, calls, kTiming));
      us = repeat == 0 ? timing.median_us : std::min(us, timing.median_us);
    }
    return us;
  }

  Communicator& host_;
  Communicator& pair_;
  Communicator& alone_;
  Buffer buffer_;
  std::span<std::byte> memory_;
};

// The mean over the ranks that have a partner.
Status agree_on_mean(Communicator& communicator, bool counts, HostTimes& times) {
  std::vector<double*> figures = {&times.call, &times.flood, &times.line, &times.short_slot};
  for (SizeTimes& size : times.sizes)
    figures.insert(figures.end(), {&size.one_way, &size.reduce, &size.exchange, &size.copy});
  std::vector<double> sums = {counts ? 1.0 : 0.0};
  for (const double* figure : figures) sums.push_back(counts ? *figure : 0);
  WEFT_TRY(communicator.all_reduce(sums.data(), sums.data(), sums.size(), DataType::Float64, ReduceOp::Sum));
  for (std::size_t i = 0; i < figures.size(); ++i) *figures[i] = sums[i + 1] / std::max(1.0, sums[0]);
  return {};
}

}  // namespace

Result<std::optional<algorithms::HostCalibration>> calibrate_host(Communicator& communicator, const HostOfRank& hosts) {
  const int own = hosts[static_cast<std::size_t>(communicator.rank())];
  std::vector<int> ranks_on(static_cast<std::size_t>(*std::max_element(hosts.begin(), hosts.end())) + 1, 0);
  for (const int host : hosts) ++ranks_on[static_cast<std::size_t>(host)];
  if (*std::max_element(ranks_on.begin(), ranks_on.end()) < 2) return std::optional<algorithms::HostCalibration>();

  WEFT_TRY_ASSIGN(Communicator host, communicator.split(own, communicator.rank()));
  const bool has_partner = host.rank() / 2 * 2 + 1 < host.size();
  WEFT_TRY_ASSIGN(Communicator pair, host.split(has_partner ? host.rank() / 2 : -1, host.rank()));
  WEFT_TRY_ASSIGN(Communicator alone, host.split(-1, 0));
  WEFT_TRY_ASSIGN(const int processors, processors_of(host));
  WEFT_TRY_ASSIGN(Buffer buffer, Buffer::allocate(kSizes.back()));
  WEFT_TRY_ASSIGN(HostTimes times, Pair(host, pair, alone, std::move(buffer)).measure());
  WEFT_TRY(agree_on_mean(communicator, has_partner, times));
  double ranks_per_core = (host.size() + processors - 1) / processors;
  WEFT_TRY(agree_on_max(communicator, std::span(&ranks_per_core, 1)));
  return std::optional(solve(times, static_cast<int>(ranks_per_core)));
}

}  // namespace weft::bench
