// Calibration: what one topology really does, in the cost model's terms, as weft-bench --calibrate measures it. Without
// one the cost model goes by the graph's nominal figures and by constants.
//
// It is kept in the measured table's file, for both hold what was measured on one topology and are of use on no other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "weft/status.hpp"

namespace weft::base {
class JsonValue;
class JsonWriter;
}  // namespace weft::base

namespace weft::algorithms {

// How fast a core moves bytes where a rank's buffers hold `bytes` in all, and so lie in one cache or another. Bytes per
// microsecond.
struct CoreRates {
  std::uint64_t bytes = 0;
  std::int64_t write = 1;   // into a message
  std::int64_t read = 1;    // out of a message
  std::int64_t reduce = 1;  // out of a message onto what is there
  std::int64_t copy = 1;    // from one place of the rank's to another

  bool operator==(const CoreRates&) const = default;
};

// Ranks of one host where so many of them share each core.
struct HostCalibration {
  int ranks_per_core = 1;
  std::int64_t call_ps = 0;      // from the call to the first step
  std::int64_t overhead_ps = 0;  // the core's, for each message, on each side
  std::int64_t line_ps = 0;      // latency of a message that shares its flag's cache line
  std::int64_t slot_ps = 0;      // of a longer one
  std::vector<CoreRates> rates;  // by bytes; at least one

  const CoreRates& rates_at(std::uint64_t bytes) const;  // of the nearest size, as a ratio

  bool operator==(const HostCalibration&) const = default;
};

// One host's way into the network and out of it, whatever lies on it. Bytes per microsecond.
struct HostLink {
  std::int64_t up = 1;
  std::int64_t down = 1;

  bool operator==(const HostLink&) const = default;
};

struct NetworkCalibration {
  std::int64_t call_ps = 0;
  std::int64_t overhead_ps = 0;
  std::int64_t latency_ps = 0;
  std::int64_t together = 0;    // what all hosts can send at once, where that is less than their links; 0: it is not
  std::vector<HostLink> hosts;  // in the order of the graph's

  bool operator==(const NetworkCalibration&) const = default;
};

struct Calibration {
  std::vector<HostCalibration> hosts;  // by ranks_per_core, each once
  std::optional<NetworkCalibration> network;

  bool empty() const { return hosts.empty() && !network; }
  // The one measured nearest to so many ranks on each core, the lower of two; null if none was.
  const HostCalibration* with(int ranks_per_core) const;
  // With overheads and rates of the fewest ranks on each core, everywhere: where ranks share a core, these cannot be
  // told from waiting for each other, which then is all latency.
  Calibration with_core_of_fewest() const;
  // Takes over what `newer` has.
  void update(const Calibration& newer);

  bool operator==(const Calibration&) const = default;
};

// A message of up to so many bytes travels in the cache line of its flag (transports/shm).
inline constexpr std::uint64_t kLineBytes = 40;

// A member of the table's file, with a schema of its own. Corrupt says where.
Status read_calibration(const base::JsonValue& value, Calibration& calibration);
void write_calibration(base::JsonWriter& json, const Calibration& calibration);

}  // namespace weft::algorithms
