// A survey as JSON, and back.
#include <array>
#include <string>

#include "base/json_reader.hpp"
#include "topology/facts/facts_json.hpp"
#include "topology/json_read.hpp"
#include "topology/limits.hpp"
#include "topology/survey.hpp"

namespace weft::topology {
namespace {

using base::JsonDocument;
using base::JsonObject;
using base::JsonValue;
using base::JsonWriter;
using Layout = JsonWriter::Layout;

constexpr std::array<std::string_view, 4> kRemarkKinds = {"incomplete", "contradiction", "unreadable", "gave_up"};
constexpr int kMaxNcclVersion = 1000;

void write_remark(JsonWriter& json, const Remark& remark) {
  json.begin_object();
  json.member("kind", to_string(remark.kind));
  json.member("subject", remark.subject);
  json.member("evidence", remark.evidence);
  json.end_object();
}

void write_measurement(JsonWriter& json, const Measurement& measured) {
  json.begin_object();
  json.member("from", measured.from);
  json.member("to", measured.to);
  json.member("what", measured.what);
  if (measured.at_once) json.member("at_once", true);
  json.member("bandwidth_gbs", measured.bandwidth_gbs);
  if (measured.latency_us) json.member("latency_us", *measured.latency_us);
  json.end_object();
}

Status read_remark(const JsonValue& value, Remark& remark) {
  JsonObject object(value);
  object.required_by("kind", [&](const JsonValue& name) {
    return name.read_name(remark.kind, parse_remark_kind, "a kind of remark");
  });
  object.required("subject", remark.subject);
  object.required("evidence", remark.evidence);
  return object.finish();
}

Status read_measurement(const JsonValue& value, std::size_t nodes, Measurement& measured) {
  const std::int64_t last = static_cast<std::int64_t>(nodes) - 1;
  JsonObject object(value);
  object.required("from", measured.from, 0, last);
  object.required("to", measured.to, 0, last);
  object.required("what", measured.what);
  object.optional("at_once", measured.at_once);
  object.required("bandwidth_gbs", measured.bandwidth_gbs);
  object.optional("latency_us", measured.latency_us);
  WEFT_TRY(object.finish());
  if (!(measured.bandwidth_gbs > 0) || measured.latency_us.value_or(0) < 0)
    return value.wrong("has a rate that is not positive, or a latency below 0");
  return {};
}

// What a report holds beyond its graph; each member may be missing.
Status read_rest(const JsonValue& root, Survey& survey) {
  if (const std::optional<JsonValue> source = root.member("source")) WEFT_TRY(source->read(survey.source));
  if (const std::optional<JsonValue> version = root.member("nccl_version"))
    WEFT_TRY(version->read(survey.nccl_version.emplace(), 1, kMaxNcclVersion));
  if (const std::optional<JsonValue> facts = root.member("facts"))
    WEFT_TRY(facts->read_list(static_cast<std::size_t>(survey.graph.hosts()),
                              [&](const JsonValue& host) { return read_facts(host, survey.hosts.emplace_back()); }));
  if (const std::optional<JsonValue> remarks = root.member("remarks"))
    WEFT_TRY(remarks->read_list(
        kMaxRemarks, [&](const JsonValue& remark) { return read_remark(remark, survey.remarks.emplace_back()); }));
  if (const std::optional<JsonValue> measurements = root.member("measurements"))
    WEFT_TRY(measurements->read_list(kMaxLinks, [&](const JsonValue& measured) {
      return read_measurement(measured, survey.graph.nodes.size(), survey.measurements.emplace_back());
    }));
  return {};
}

}  // namespace

std::string_view to_string(RemarkKind kind) { return kRemarkKinds[static_cast<std::size_t>(kind)]; }

std::optional<RemarkKind> parse_remark_kind(std::string_view word) {
  for (std::size_t i = 0; i < kRemarkKinds.size(); ++i)
    if (kRemarkKinds[i] == word) return static_cast<RemarkKind>(i);
  return std::nullopt;
}

void write_survey(JsonWriter& json, const Survey& survey) {
  json.member("source", survey.source);
  if (survey.nccl_version) json.member("nccl_version", *survey.nccl_version);
  if (!survey.hosts.empty()) {
    json.begin_list("facts", Layout::Lines);
    for (const HostFacts& host : survey.hosts) write_facts(json, host);
    json.end_list();
  }
  json.begin_list("remarks", Layout::Lines);
  for (const Remark& remark : survey.remarks) write_remark(json, remark);
  json.end_list();
  if (!survey.measurements.empty()) {
    json.begin_list("measurements", Layout::Lines);
    for (const Measurement& measured : survey.measurements) write_measurement(json, measured);
    json.end_list();
  }
  // The graph as the library writes it, so that the report can be read back.
  json.key("graph");
  json.raw(to_json(survey.graph));
}

Result<Survey> survey_from_json(std::string_view text) {
  WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse("topology JSON", text));
  const JsonValue root = document.root();
  const std::optional<JsonValue> graph = root.member("graph");
  Survey survey;
  WEFT_TRY_ASSIGN(survey.graph, read_graph(graph ? *graph : root));
  if (graph) WEFT_TRY(read_rest(root, survey));
  if (survey.source.empty()) survey.source = "Weft JSON";
  return survey;
}

}  // namespace weft::topology
