// MeasuredTable as a file.
#include "algorithms/measured_table.hpp"

#include <limits>

#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "topology/read_file.hpp"

namespace weft::algorithms {
namespace {

using base::JsonObject;
using base::JsonValue;
using base::JsonWriter;

constexpr int kTableSchema = 2;
constexpr int kFirstTableSchema = 1;                           // knew no calibration
constexpr std::size_t kMostFileBytes = std::size_t{16} << 20;  // it travels to all ranks
constexpr std::size_t kMaxCells = 1'000'000;
constexpr int kMaxTableRanks = 1 << 20;
constexpr int kMaxTableChannels = 1024;

Status read_cell(const JsonValue& value, MeasuredCell& cell) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t bytes = 0;
  JsonObject object(value);
  object.required_by("collective", [&](const JsonValue& name) {
    return name.read_name(cell.collective, parse_collective, "the name of a collective");
  });
  object.required("ranks", cell.ranks, 1, kMaxTableRanks);
  object.required("bytes", bytes, 0, kMost);
  object.required("algorithm", cell.algorithm);
  object.required("channels", cell.channels, 1, kMaxTableChannels);
  object.required("time_ns", cell.time_ns, 0, kMost);
  cell.bytes = static_cast<std::uint64_t>(bytes);
  return object.finish();
}

void write_cell(JsonWriter& json, const MeasuredCell& cell) {
  json.begin_object();
  json.member("collective", to_string(cell.collective));
  json.member("ranks", cell.ranks);
  json.member("bytes", cell.bytes);
  json.member("algorithm", cell.algorithm);
  json.member("channels", cell.channels);
  json.member("time_ns", cell.time_ns);
  json.end_object();
}

}  // namespace

Result<MeasuredTable> MeasuredTable::from_json(std::string_view text) {
  WEFT_TRY_ASSIGN(const base::JsonDocument document, base::JsonDocument::parse("measured table", text));
  MeasuredTable table;
  int schema = 0;
  JsonObject root(document.root());
  root.required("schema", schema, kFirstTableSchema, kTableSchema);
  root.required("fingerprint", table.fingerprint);
  root.required_by("cells", [&](const JsonValue& cells) {
    return cells.read_list(kMaxCells,
                           [&](const JsonValue& cell) { return read_cell(cell, table.cells.emplace_back()); });
  });
  root.optional_by("calibration",
                   [&](const JsonValue& calibration) { return read_calibration(calibration, table.calibration); });
  WEFT_TRY(root.finish());
  return table;
}

Result<MeasuredTable> MeasuredTable::load(const std::string& file) {
  WEFT_TRY_ASSIGN(const std::string text, topology::read_file(file, kMostFileBytes));
  return from_json(text);
}

std::string MeasuredTable::to_json() const {
  JsonWriter json;
  json.begin_object(JsonWriter::Layout::Lines);
  json.member("schema", kTableSchema);
  json.member("fingerprint", fingerprint);
  json.begin_list("cells", JsonWriter::Layout::Lines);
  for (const MeasuredCell& cell : cells) write_cell(json, cell);
  json.end_list();
  if (!calibration.empty()) write_calibration(json, calibration);
  json.end_object();
  return std::move(json).text();
}

}  // namespace weft::algorithms
