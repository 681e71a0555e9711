// MeasuredTable: what was measured on a topology, as a file.
#include <fmt/format.h>

#include <limits>

#include "algorithms/export_json_reader.hpp"
#include "algorithms/selector.hpp"

namespace weft::algorithms {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTableSchema = 1;
constexpr std::size_t kMaxCells = 1'000'000;
constexpr int kMaxTableRanks = 1 << 20;
constexpr int kMaxTableChannels = 1024;

MeasuredCell read_cell(JsonReader& reader, const nlohmann::json& value, const std::string& place) {
  MeasuredCell cell;
  if (!reader.members(value, place, {"collective", "ranks", "bytes", "algorithm", "channels", "time_ns"})) return cell;
  const std::optional<Collective> collective =
      parse_collective(reader.text(value["collective"], place + ".collective"));
  if (!collective) reader.fail(place + ".collective", "is not the name of a collective");
  cell.collective = collective.value_or(Collective::Barrier);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  cell.ranks = static_cast<int>(reader.integer(value["ranks"], place + ".ranks", 1, kMaxTableRanks));
  cell.bytes = static_cast<std::uint64_t>(reader.integer(value["bytes"], place + ".bytes", 0, kMost));
  cell.algorithm = reader.text(value["algorithm"], place + ".algorithm");
  cell.channels = static_cast<int>(reader.integer(value["channels"], place + ".channels", 1, kMaxTableChannels));
  cell.time_ns = reader.integer(value["time_ns"], place + ".time_ns", 0, kMost);
  return cell;
}

}  // namespace

Result<MeasuredTable> MeasuredTable::from_json(std::string_view text) {
  WEFT_TRY_ASSIGN(const nlohmann::json root, parse_json("measured table", text));
  JsonReader reader("measured table");
  MeasuredTable table;
  if (!reader.members(root, "the file", {"schema", "fingerprint", "cells"})) return reader.status();
  reader.integer(root["schema"], "schema", kTableSchema, kTableSchema);
  table.fingerprint = reader.text(root["fingerprint"], "fingerprint");
  for (const nlohmann::json& cell : reader.array(root["cells"], "cells", kMaxCells)) {
    table.cells.push_back(read_cell(reader, cell, fmt::format("cells[{}]", table.cells.size())));
    if (!reader.ok()) break;
  }
  if (!reader.ok()) return reader.status();
  return table;
}

std::string MeasuredTable::to_json() const {
  std::string text =
      fmt::format("{{\"schema\": {}, \"fingerprint\": {}, \"cells\": [", kTableSchema, Json(fingerprint).dump());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const MeasuredCell& cell = cells[i];
    const Json line = {{"collective", to_string(cell.collective)},
                       {"ranks", cell.ranks},
                       {"bytes", cell.bytes},
                       {"algorithm", cell.algorithm},
                       {"channels", cell.channels},
                       {"time_ns", cell.time_ns}};
    text += fmt::format("{}\n  {}", i == 0 ? "" : ",", line.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return text + "\n]}\n";
}

}  // namespace weft::algorithms
