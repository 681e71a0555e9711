#include "bench/weft-bench/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "weft/version.hpp"

namespace weft::bench {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Measurement& measurement) {
  const auto& call = measurement.what.call;
  const bool rooted = has_root(call.collective);
  Json json;
  json["collective"] = to_string(call.collective);
  json["algorithm"] = measurement.algorithm;
  json["channels"] = measurement.channels;
  json["transport"] = measurement.transport;
  json["ranks"] = measurement.ranks;
  json["dtype"] = to_string(call.dtype);
  json["op"] = reduces(call.collective) ? Json(to_string(call.op)) : Json(nullptr);
  json["root"] = !rooted ? Json(nullptr) : measurement.what.all_roots ? Json("all") : Json(call.root);
  json["bytes"] = measurement.bytes;
  json["count"] = call.count;
  json["in_place"] = measurement.what.in_place;
  json["time_us"] = {
      {"min", measurement.time.min_us}, {"median", measurement.time.median_us}, {"p99", measurement.time.p99_us}};
  json["algbw_gbs"] = measurement.algorithm_bandwidth_gbs();
  json["busbw_gbs"] = measurement.bus_bandwidth_gbs();
  json["wrong"] = measurement.checked ? Json(measurement.wrong) : Json(nullptr);
  return json;
}

}  // namespace

std::string to_json(const Setting& setting, const std::vector<Measurement>& measurements) {
  const auto& machine = setting.machine;
  Json places = Json::array();
  for (const auto& place : setting.places) places.push_back({{"host", place.host}, {"cpus", place.cpus}});
  Json json;
  json["schema"] = 1;
  json["version"] = version();
  json["machine"] = {{"host", machine.host},
                     {"cpu", machine.cpu},
                     {"cores", machine.cores},
                     {"memory_bytes", machine.memory_bytes},
                     {"kernel", machine.kernel}};
  json["launcher"] = setting.launcher;
  json["placement"] = setting.placement;
  json["places"] = std::move(places);
  json["results"] = Json::array();
  for (const auto& measurement : measurements) json["results"].push_back(to_json(measurement));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool is_replaceable(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

Status write_atomically(const std::string& path, std::string_view text) {
  if (!is_replaceable(path)) {
    return Status(Code::InvalidArgument, fmt::format("\"{}\" is not a regular file; choose another name", path));
  }
  const auto temporary = fmt::format("{}.{}.tmp", path, getpid());
  const auto failed = [&](std::string_view what) {
    const Status status(Code::SystemError, fmt::format("cannot {} \"{}\": {}", what, temporary, std::strerror(errno)));
    std::remove(temporary.c_str());
    return status;
  };
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr) return failed("write");
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) return failed("write");
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return failed("rename");
  return {};
}

}  // namespace weft::bench
