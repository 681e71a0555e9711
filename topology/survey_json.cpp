// A survey as JSON, and back.
#include <fmt/format.h>

#include <algorithm>
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

constexpr std::array<std::string_view, 5> kRemarkKinds = {"incomplete", "contradiction", "unreadable", "gave_up",
                                                          "unmeasured"};
constexpr int kMaxNcclVersion = 1000;
constexpr std::size_t kShortBytes = std::size_t{256} << 10;  // of a text that is kept as it is read
constexpr std::string_view kWhat = "topology JSON";

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

Status read_measurement(const JsonValue& value, Measurement& measured) {
  JsonObject object(value);
  object.required("from", measured.from, 0, kMaxNodes - 1);
  object.required("to", measured.to, 0, kMaxNodes - 1);
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
class RestReader {
 public:
  RestReader(Survey& survey, Reading reading)
      : survey_(survey),
        hosts_(survey.hosts, reading),
        remarks_(survey.remarks, reading),
        measurements_(survey.measurements, reading) {}
  RestReader(const RestReader&) = delete;
  RestReader& operator=(const RestReader&) = delete;

  void add_to(base::JsonPlan& plan) {
    for (const char* member : {"source", "nccl_version", "facts", "remarks", "measurements"})
      plan.kept.emplace_back(member);
    plan.lists.push_back(
        {"facts", kMaxHosts, [this](const JsonValue& host) { return read_facts(host, hosts_.next()); }});
    plan.lists.push_back(
        {"remarks", kMaxRemarks, [this](const JsonValue& remark) { return read_remark(remark, remarks_.next()); }});
    plan.lists.push_back({"measurements", kMaxLinks, [this](const JsonValue& value) {
                            Measurement& measured = measurements_.next();
                            WEFT_TRY(read_measurement(value, measured));
                            last_node_ = std::max({last_node_, measured.from, measured.to});
                            return Status();
                          }});
  }

  std::size_t elements() const { return hosts_.count() + remarks_.count() + measurements_.count(); }
  // The other members, and what must fit the graph.
  Status finish(const JsonValue& document, std::size_t hosts, std::size_t nodes) {
    if (const std::optional<JsonValue> source = document.member("source")) WEFT_TRY(source->read(survey_.source));
    if (const std::optional<JsonValue> version = document.member("nccl_version"))
      WEFT_TRY(version->read(survey_.nccl_version.emplace(), 1, kMaxNcclVersion));
    for (const char* name : {"facts", "remarks", "measurements"})
      if (const std::optional<JsonValue> list = document.member(name)) WEFT_TRY(list->check_list(0));
    if (hosts_.count() > hosts)
      return document.wrong(fmt::format("holds the facts of {} hosts, its graph has {}", hosts_.count(), hosts));
    if (last_node_ >= static_cast<std::int64_t>(nodes))
      return document.wrong(fmt::format("holds a measurement to node {}, its graph has {} nodes", last_node_, nodes));
    return {};
  }

 private:
  Survey& survey_;
  Gathered<HostFacts> hosts_;
  Gathered<Remark> remarks_;
  Gathered<Measurement> measurements_;
  int last_node_ = -1;  // that a measurement names
};

Status read_all(std::string_view text, GraphReader& graph, RestReader& rest) {
  base::JsonPlan plan = bounded_plan();
  graph.add_to(plan);
  rest.add_to(plan);
  WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse(kWhat, text, plan));
  WEFT_TRY(graph.finish(document.root()));
  if (!document.root().member("graph")) return {};
  return rest.finish(document.root(), graph.hosts(), graph.nodes());
}

// What is kept takes many times the memory of its text: of a long one all is known to be right before.
Status read_long(std::string_view text, Survey& survey) {
  GraphReader checked_graph(survey.graph, Reading::Check);
  RestReader checked_rest(survey, Reading::Check);
  WEFT_TRY(read_all(text, checked_graph, checked_rest));
  GraphReader graph(survey.graph, Reading::Complete);
  base::JsonPlan plan = bounded_plan();
  graph.add_to(plan);
  WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse(kWhat, text, plan));
  WEFT_TRY(graph.finish(document.root()));
  if (checked_rest.elements() == 0) return {};
  RestReader rest(survey, Reading::Keep);
  base::JsonPlan plan_of_rest = bounded_plan();
  rest.add_to(plan_of_rest);
  return JsonDocument::parse(kWhat, text, plan_of_rest).status();
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
  Survey survey;
  if (text.size() > kShortBytes) {
    WEFT_TRY(read_long(text, survey));
  } else {
    GraphReader graph(survey.graph, Reading::Keep);
    RestReader rest(survey, Reading::Keep);
    WEFT_TRY(read_all(text, graph, rest));
  }
  if (survey.source.empty()) survey.source = "Weft JSON";
  return survey;
}

}  // namespace weft::topology
