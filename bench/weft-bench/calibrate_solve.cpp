// From times to the figures of the cost model: its formula for one message, read backwards.
//
// A message of n bytes takes call + 2 overheads + latency + n / rate to be written + n / rate to be read. Up to a slice
// one follows the other; beyond, both go on at once, slice by slice, and ranks that share a core share its rate.
#include <algorithm>
#include <cmath>

#include "bench/weft-bench/calibrate.hpp"

namespace weft::bench {
namespace {

constexpr double kSliceBytes = 64 << 10;  // SimulationOptions::slice_bytes
constexpr double kLeastUs = 1e-4;         // of what is divided by
constexpr std::int64_t kMostWriteToRead = 8;
constexpr double kMostRate = 1e6;  // bytes per microsecond: what is faster is noise

std::int64_t picoseconds(double us) { return std::llround(std::max(0.0, us) * 1e6); }
std::int64_t rate(double bytes, double us) {
  return std::llround(std::clamp(bytes / std::max(us, kLeastUs), 1.0, kMostRate));
}

algorithms::CoreRates rates_of(const SizeTimes& times, double base_us, int ranks_per_core) {
  const auto bytes = static_cast<double>(times.bytes);
  const double one_way_us = std::max(times.one_way - base_us, kLeastUs);
  const double reduce_us = std::max(times.reduce - base_us, kLeastUs);
  algorithms::CoreRates rates;
  rates.bytes = times.bytes;
  rates.copy = rate(bytes / 2, times.copy);
  if (bytes <= kSliceBytes) {
    rates.write = rates.read = rate(2 * bytes, one_way_us);
    rates.reduce = rate(bytes, reduce_us - one_way_us / 2);
    return rates;
  }
  // One way it takes as long as reading does, the slower of the two: the bytes come from another core's cache. Both
  // ways at once each core reads and writes as many.
  const double moved = ranks_per_core * bytes + kSliceBytes;
  rates.read = rate(moved, one_way_us);
  rates.reduce = rate(moved, reduce_us);
  const double exchanged = ranks_per_core * bytes / 2;
  const double write_us = std::max(times.exchange - base_us, kLeastUs) - exchanged / static_cast<double>(rates.read);
  rates.write = std::clamp(rate(exchanged, write_us), rates.read, kMostWriteToRead * rates.read);
  return rates;
}

}  // namespace

algorithms::HostCalibration solve(const HostTimes& times, int ranks_per_core) {
  algorithms::HostCalibration host;
  host.ranks_per_core = ranks_per_core;
  // What a message takes of the core may not be more than the message takes in all.
  const double overhead_us = std::clamp(times.flood - times.call, 0.0, std::max(0.0, times.line - times.call) / 4);
  const double software_us = times.call + 2 * overhead_us;
  const SizeTimes& first = times.sizes.front();
  const double us_per_byte =
      std::max(0.0, first.one_way - times.short_slot) / static_cast<double>(first.bytes - kShortSlotBytes);
  const double slot_us = times.short_slot - us_per_byte * kShortSlotBytes - software_us;
  host.call_ps = picoseconds(times.call);
  host.overhead_ps = picoseconds(overhead_us);
  host.line_ps = picoseconds(times.line - software_us);
  host.slot_ps = picoseconds(slot_us);
  for (const SizeTimes& size : times.sizes)
    host.rates.push_back(rates_of(size, software_us + std::max(0.0, slot_us), ranks_per_core));
  return host;
}

}  // namespace weft::bench
