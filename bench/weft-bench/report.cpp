// The results as JSON, schema 1 (docs/benchmarks.md): one line for each.
#include "bench/weft-bench/report.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "weft/version.hpp"

namespace weft::bench {
namespace {

using base::JsonWriter;
using Layout = JsonWriter::Layout;

void write_machine(JsonWriter& json, const Machine& machine) {
  json.begin_object("machine");
  json.member("host", machine.host);
  json.member("cpu", machine.cpu);
  json.member("cores", machine.cores);
  json.member("memory_bytes", machine.memory_bytes);
  json.member("kernel", machine.kernel);
  json.end_object();
}

void write_places(JsonWriter& json, const std::vector<RankPlace>& places) {
  json.begin_list("places", Layout::Lines);
  for (const auto& place : places) {
    json.begin_object();
    json.member("host", place.host);
    json.member("cpus", place.cpus);
    json.end_object();
  }
  json.end_list();
}

void write_root(JsonWriter& json, const Case& what) {
  json.key("root");
  if (!has_root(what.call.collective))
    json.value(nullptr);
  else if (what.all_roots)
    json.value("all");
  else
    json.value(what.call.root);
}

void write_time(JsonWriter& json, const Timing& time) {
  json.begin_object("time_us");
  json.member("min", time.min_us);
  json.member("median", time.median_us);
  json.member("p99", time.p99_us);
  json.end_object();
}

void write_result(JsonWriter& json, const Measurement& measurement) {
  const auto& call = measurement.what.call;
  json.begin_object();
  json.member("collective", name_of(measurement.what));
  if (measurement.what.uneven) json.member("skew", measurement.what.skew);
  if (call.quantisation != Quantisation::None) json.member("quantisation", to_string(call.quantisation));
  json.member("algorithm", measurement.algorithm);
  json.member("channels", measurement.channels);
  json.member("transport", measurement.transport);
  json.member("ranks", measurement.ranks);
  json.member("dtype", to_string(call.dtype));
  json.member("op", reduces(call.collective) ? std::optional(to_string(call.op)) : std::nullopt);
  write_root(json, measurement.what);
  json.member("bytes", measurement.bytes);
  json.member("count", call.count);
  json.member("in_place", measurement.what.in_place);
  write_time(json, measurement.time);
  json.member("algbw_gbs", measurement.algorithm_bandwidth_gbs());
  json.member("busbw_gbs", measurement.bus_bandwidth_gbs());
  if (measurement.hash) {
    json.member("hash", fmt::format("{:016x}", measurement.hash->hash));
    json.member("ranks_equal", measurement.hash->ranks_equal);
  }
  json.member("wrong", measurement.checked ? std::optional(measurement.wrong) : std::nullopt);
  json.end_object();
}

}  // namespace

std::string to_json(const Setting& setting, const std::vector<Measurement>& measurements) {
  JsonWriter json;
  json.begin_object(Layout::Lines);
  json.member("schema", 1);
  json.member("version", version());
  write_machine(json, setting.machine);
  json.member("launcher", setting.launcher);
  json.member("placement", setting.placement);
  json.member("buffers", setting.symmetric ? "symmetric" : "private");
  write_places(json, setting.places);
  json.begin_list("results", Layout::Lines);
  for (const auto& measurement : measurements) write_result(json, measurement);
  json.end_list();
  json.end_object();
  return std::move(json).text();
}

}  // namespace weft::bench
