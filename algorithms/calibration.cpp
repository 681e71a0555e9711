// Looking up what was measured nearest, and the calibration as JSON.
#include "algorithms/calibration.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "base/limits.hpp"

namespace weft::algorithms {
namespace {

using base::JsonObject;
using base::JsonValue;
using base::JsonWriter;

constexpr int kSchema = 1;
constexpr std::size_t kMaxHostCalibrations = 64;
constexpr std::size_t kMaxRates = 64;
constexpr int kMaxRanksPerCore = 1 << 16;
constexpr std::int64_t kMaxPs = 1'000'000'000'000;  // a second
constexpr std::int64_t kMaxRate = 1'000'000'000;    // a petabyte per second
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 62;

Status read_rates(const JsonValue& value, std::vector<CoreRates>& all) {
  CoreRates rates;
  std::int64_t bytes = 0;
  JsonObject object(value);
  object.required("bytes", bytes, 1, kMaxBytes);
  object.required("write_mbs", rates.write, 1, kMaxRate);
  object.required("read_mbs", rates.read, 1, kMaxRate);
  object.required("reduce_mbs", rates.reduce, 1, kMaxRate);
  object.required("copy_mbs", rates.copy, 1, kMaxRate);
  WEFT_TRY(object.finish());
  rates.bytes = static_cast<std::uint64_t>(bytes);
  if (!all.empty() && all.back().bytes >= rates.bytes) return value.wrong("does not come in the order of bytes");
  all.push_back(rates);
  return {};
}

Status read_host(const JsonValue& value, std::vector<HostCalibration>& all) {
  HostCalibration host;
  JsonObject object(value);
  object.required("ranks_per_core", host.ranks_per_core, 1, kMaxRanksPerCore);
  object.required("call_ps", host.call_ps, 0, kMaxPs);
  object.required("overhead_ps", host.overhead_ps, 0, kMaxPs);
  object.required("line_ps", host.line_ps, 0, kMaxPs);
  object.required("slot_ps", host.slot_ps, 0, kMaxPs);
  object.required_by("rates", [&](const JsonValue& list) {
    WEFT_TRY(list.read_list(kMaxRates, [&](const JsonValue& rates) { return read_rates(rates, host.rates); }));
    return host.rates.empty() ? list.wrong("is empty") : Status();
  });
  WEFT_TRY(object.finish());
  if (!all.empty() && all.back().ranks_per_core >= host.ranks_per_core)
    return value.wrong("does not come in the order of ranks_per_core");
  all.push_back(std::move(host));
  return {};
}

Status read_link(const JsonValue& value, std::vector<HostLink>& all) {
  HostLink link;
  JsonObject object(value);
  object.required("up_mbs", link.up, 1, kMaxRate);
  object.required("down_mbs", link.down, 1, kMaxRate);
  WEFT_TRY(object.finish());
  all.push_back(link);
  return {};
}

Status read_network(const JsonValue& value, NetworkCalibration& network) {
  JsonObject object(value);
  object.required("call_ps", network.call_ps, 0, kMaxPs);
  object.required("overhead_ps", network.overhead_ps, 0, kMaxPs);
  object.required("latency_ps", network.latency_ps, 0, kMaxPs);
  object.required("together_mbs", network.together, 0, kMaxRate);
  object.required_by("hosts", [&](const JsonValue& list) {
    return list.read_list(base::kMaxRanks, [&](const JsonValue& link) { return read_link(link, network.hosts); });
  });
  return object.finish();
}

void write_host(JsonWriter& json, const HostCalibration& host) {
  json.begin_object();
  json.member("ranks_per_core", host.ranks_per_core);
  json.member("call_ps", host.call_ps);
  json.member("overhead_ps", host.overhead_ps);
  json.member("line_ps", host.line_ps);
  json.member("slot_ps", host.slot_ps);
  json.begin_list("rates");
  for (const CoreRates& rates : host.rates) {
    json.begin_object();
    json.member("bytes", rates.bytes);
    json.member("write_mbs", rates.write);
    json.member("read_mbs", rates.read);
    json.member("reduce_mbs", rates.reduce);
    json.member("copy_mbs", rates.copy);
    json.end_object();
  }
  json.end_list();
  json.end_object();
}

void write_network(JsonWriter& json, const NetworkCalibration& network) {
  json.begin_object("network");
  json.member("call_ps", network.call_ps);
  json.member("overhead_ps", network.overhead_ps);
  json.member("latency_ps", network.latency_ps);
  json.member("together_mbs", network.together);
  json.begin_list("hosts");
  for (const HostLink& link : network.hosts) {
    json.begin_object();
    json.member("up_mbs", link.up);
    json.member("down_mbs", link.down);
    json.end_object();
  }
  json.end_list();
  json.end_object();
}

}  // namespace

// The boundary between two sizes is their geometric mean: bytes * bytes against the product of both, without overflow.
const CoreRates& HostCalibration::rates_at(std::uint64_t bytes) const {
  const auto above = std::lower_bound(rates.begin(), rates.end(), bytes,
                                      [](const CoreRates& one, std::uint64_t size) { return one.bytes < size; });
  if (above == rates.begin()) return rates.front();
  const CoreRates& below = *std::prev(above);
  if (above == rates.end()) return below;
  __extension__ using Wide = unsigned __int128;
  return static_cast<Wide>(bytes) * bytes < static_cast<Wide>(below.bytes) * above->bytes ? below : *above;
}

const HostCalibration* Calibration::with(int ranks_per_core) const {
  const HostCalibration* nearest = nullptr;
  for (const HostCalibration& host : hosts)
    if (nearest == nullptr || host.ranks_per_core <= ranks_per_core) nearest = &host;
  return nearest;
}

Calibration Calibration::with_core_of_fewest() const {
  Calibration result = *this;
  for (HostCalibration& host : result.hosts) {
    const HostCalibration& fewest = hosts.front();
    const std::int64_t waiting_ps = 2 * (host.overhead_ps - fewest.overhead_ps) + host.call_ps - fewest.call_ps;
    host.line_ps = std::max<std::int64_t>(0, host.line_ps + waiting_ps);
    host.slot_ps = std::max<std::int64_t>(0, host.slot_ps + waiting_ps);
    host.overhead_ps = fewest.overhead_ps;
    host.call_ps = fewest.call_ps;
    host.rates = fewest.rates;
  }
  return result;
}

void Calibration::update(const Calibration& newer) {
  for (const HostCalibration& host : newer.hosts) {
    std::erase_if(hosts, [&](const HostCalibration& old) { return old.ranks_per_core == host.ranks_per_core; });
    hosts.insert(std::upper_bound(hosts.begin(), hosts.end(), host,
                                  [](const HostCalibration& a, const HostCalibration& b) {
                                    return a.ranks_per_core < b.ranks_per_core;
                                  }),
                 host);
  }
  if (newer.network) network = newer.network;
}

Status read_calibration(const JsonValue& value, Calibration& calibration) {
  int schema = 0;
  JsonObject object(value);
  object.required("schema", schema, kSchema, kSchema);
  object.required_by("hosts", [&](const JsonValue& list) {
    return list.read_list(kMaxHostCalibrations,
                          [&](const JsonValue& host) { return read_host(host, calibration.hosts); });
  });
  object.optional_by("network",
                     [&](const JsonValue& network) { return read_network(network, calibration.network.emplace()); });
  return object.finish();
}

void write_calibration(JsonWriter& json, const Calibration& calibration) {
  json.begin_object("calibration", JsonWriter::Layout::Lines);
  json.member("schema", kSchema);
  json.begin_list("hosts", JsonWriter::Layout::Lines);
  for (const HostCalibration& host : calibration.hosts) write_host(json, host);
  json.end_list();
  if (calibration.network) write_network(json, *calibration.network);
  json.end_object();
}

}  // namespace weft::algorithms
