// What ranks tell each other to agree, and the agreement, as text: JSON, because it is read once per job and people
// look at it.
#include <fmt/format.h>

#include <optional>

#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "base/limits.hpp"
#include "comm/agreement.hpp"

namespace weft::comm {
namespace {

using base::JsonDocument;
using base::JsonObject;
using base::JsonValue;
using base::JsonWriter;

constexpr int kSchema = 5;
constexpr std::size_t kMaxCpus = std::size_t{1} << 20;
constexpr std::size_t kMaxTransports = 64;
constexpr std::size_t kMaxSchedules = 64;

// Addresses may hold any bytes; JSON holds text.
std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

std::optional<int> digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

std::optional<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    const auto high = digit(hex[at]);
    const auto low = digit(hex[at + 1]);
    if (!high || !low) return std::nullopt;
    bytes.push_back(static_cast<char>(*high * 16 + *low));
  }
  return bytes;
}

using Addresses = std::map<std::string, std::string>;

void write(JsonWriter& json, const Addresses& addresses) {
  json.begin_list("addresses");
  for (const auto& [transport, address] : addresses) {
    json.begin_object();
    json.member("transport", transport);
    json.member("hex", to_hex(address));
    json.end_object();
  }
  json.end_list();
}

Status read_address(const JsonValue& value, Addresses& addresses) {
  std::string transport;
  std::string hex;
  JsonObject object(value);
  object.required("transport", transport);
  object.required("hex", hex);
  WEFT_TRY(object.finish());
  const std::optional<std::string> bytes = from_hex(hex);
  if (!bytes) return value.wrong("is no address in hexadecimal digits");
  if (!addresses.emplace(transport, *bytes).second) return value.wrong("is the second address of its transport");
  return {};
}

void require_addresses(JsonObject& object, Addresses& addresses) {
  object.required_by("addresses", [&](const JsonValue& list) {
    return list.read_list(kMaxTransports, [&](const JsonValue& value) { return read_address(value, addresses); });
  });
}

template <typename T>
void require_list(JsonObject& object, std::string_view name, std::vector<T>& list, std::size_t most) {
  object.required_by(name, [&](const JsonValue& values) {
    return values.read_list(most, [&](const JsonValue& value) {
      T element{};
      WEFT_TRY(value.read(element));
      list.push_back(std::move(element));
      return Status();
    });
  });
}

// The text as an object of this schema, read by `read_members(object)`.
template <typename Read>
Status parse(std::string_view what, std::string_view text, const Read& read_members) {
  const auto parsed = [&]() -> Status {
    WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse(what, text));
    JsonObject object(document.root());
    object.required_by("schema", [&](const JsonValue& value) {
      int schema = 0;
      WEFT_TRY(value.read(schema));
      return schema == kSchema ? Status() : value.wrong(fmt::format("is {}, this library reads {}", schema, kSchema));
    });
    read_members(object);
    return object.finish();
  }();
  if (parsed.ok()) return {};
  return Status(parsed.code(), fmt::format("{}; run the same Weft on all ranks", parsed.message()));
}

void write(JsonWriter& json, const AgreedRank& rank) {
  json.begin_object();
  json.member("host", rank.host);
  write(json, rank.addresses);
  json.member("crosses_hosts", rank.crosses_hosts);
  json.member("reaches_leader", rank.reaches_leader);
  json.end_object();
}

Status read_rank(const JsonValue& value, std::size_t hosts, std::vector<AgreedRank>& ranks) {
  AgreedRank rank;
  JsonObject object(value);
  object.required("host", rank.host, 0, static_cast<std::int64_t>(hosts) - 1);
  require_addresses(object, rank.addresses);
  require_list(object, "crosses_hosts", rank.crosses_hosts, kMaxTransports);
  require_list(object, "reaches_leader", rank.reaches_leader, kMaxTransports);
  WEFT_TRY(object.finish());
  ranks.push_back(std::move(rank));
  return {};
}

Status read_schedule(const JsonValue& value, std::vector<algorithms::ScheduleText>& schedules) {
  algorithms::ScheduleText& schedule = schedules.emplace_back();
  JsonObject object(value);
  object.required("file", schedule.file);
  object.required("text", schedule.text);
  return object.finish();
}

}  // namespace

std::string to_json(const RankFacts& facts) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", kSchema);
  json.member("host_id", facts.host_id);
  json.member("host_name", facts.host_name);
  json.member("cpus", facts.cpus);
  json.member("crosses_hosts", facts.crosses_hosts);
  write(json, facts.addresses);
  json.member("table_digest", facts.table_digest);
  json.member("schedules_digest", facts.schedules_digest);
  json.end_object();
  return std::move(json).text();
}

Result<RankFacts> rank_facts_from_json(std::string_view text) {
  RankFacts facts;
  WEFT_TRY(parse("a rank's facts", text, [&](JsonObject& object) {
    object.required("host_id", facts.host_id);
    object.required("host_name", facts.host_name);
    require_list(object, "cpus", facts.cpus, kMaxCpus);
    require_list(object, "crosses_hosts", facts.crosses_hosts, kMaxTransports);
    require_addresses(object, facts.addresses);
    object.required("table_digest", facts.table_digest);
    object.required("schedules_digest", facts.schedules_digest);
  }));
  return facts;
}

std::string to_json(const RankView& view) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", kSchema);
  json.member("reaches_leader", view.reaches_leader);
  json.member("graph", view.graph);
  json.end_object();
  return std::move(json).text();
}

Result<RankView> rank_view_from_json(std::string_view text) {
  RankView view;
  WEFT_TRY(parse("what a rank sees", text, [&](JsonObject& object) {
    require_list(object, "reaches_leader", view.reaches_leader, kMaxTransports);
    object.required("graph", view.graph);
  }));
  return view;
}

std::string to_json(const Agreement& agreement) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", kSchema);
  json.member("hosts", agreement.hosts);
  json.begin_list("oversubscribed");
  for (const bool host : agreement.oversubscribed) json.value(host);
  json.end_list();
  json.begin_list("ranks");
  for (const AgreedRank& rank : agreement.ranks) write(json, rank);
  json.end_list();
  json.member("transports", agreement.transports);
  json.member("graph", topology::to_json(agreement.graph));
  json.member("algorithms", agreement.algorithms);
  json.member("channels", agreement.channels);
  json.member("numerics", to_string(agreement.numerics));
  json.member("table", agreement.table);
  json.begin_list("schedules");
  for (const algorithms::ScheduleText& schedule : agreement.schedules) {
    json.begin_object();
    json.member("file", schedule.file);
    json.member("text", schedule.text);
    json.end_object();
  }
  json.end_list();
  json.end_object();
  return std::move(json).text();
}

Result<Agreement> agreement_from_json(std::string_view text) {
  Agreement agreement;
  std::string graph;
  WEFT_TRY(parse("the agreement", text, [&](JsonObject& object) {
    require_list(object, "hosts", agreement.hosts, base::kMaxRanks);
    object.required_by("oversubscribed", [&](const JsonValue& hosts) {
      WEFT_TRY(hosts.read_list(base::kMaxRanks, [&](const JsonValue& value) {
        bool oversubscribed = false;
        WEFT_TRY(value.read(oversubscribed));
        agreement.oversubscribed.push_back(oversubscribed);
        return Status();
      }));
      return hosts.size() == agreement.hosts.size() ? Status() : hosts.wrong("has not one element for each host");
    });
    object.required_by("ranks", [&](const JsonValue& ranks) {
      return ranks.read_list(base::kMaxRanks, [&](const JsonValue& rank) {
        return read_rank(rank, agreement.hosts.size(), agreement.ranks);
      });
    });
    require_list(object, "transports", agreement.transports, kMaxTransports);
    object.required("graph", graph);
    object.required("algorithms", agreement.algorithms);
    object.required("channels", agreement.channels);
    object.required_by("numerics", [&](const JsonValue& name) {
      return name.read_name(agreement.numerics, parse_numerics, "fast or invariant");
    });
    object.required("table", agreement.table);
    object.required_by("schedules", [&](const JsonValue& list) {
      return list.read_list(kMaxSchedules,
                            [&](const JsonValue& value) { return read_schedule(value, agreement.schedules); });
    });
  }));
  WEFT_TRY_ASSIGN(agreement.graph, topology::from_json(graph));
  return agreement;
}

}  // namespace weft::comm
