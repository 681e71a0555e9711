// The agreement as text: JSON, because it is read once per job and people look at it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "comm/agreement.hpp"

namespace weft::comm {
namespace {

using Json = nlohmann::json;

constexpr int kSchema = 1;

// Addresses may hold any bytes; JSON holds text.
std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw std::invalid_argument("an address is not hexadecimal");
}

std::string from_hex(const std::string& hex) {
  if (hex.size() % 2 != 0) throw std::invalid_argument("an address has an odd number of digits");
  std::string bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2)
    bytes.push_back(static_cast<char>(digit(hex[at]) * 16 + digit(hex[at + 1])));
  return bytes;
}

Json addresses_to_json(const std::map<std::string, std::string>& addresses) {
  Json json = Json::object();
  for (const auto& [name, address] : addresses) json[name] = to_hex(address);
  return json;
}

std::map<std::string, std::string> addresses_from_json(const Json& json) {
  std::map<std::string, std::string> addresses;
  for (const auto& [name, address] : json.items()) addresses.emplace(name, from_hex(address.get<std::string>()));
  return addresses;
}

// Runs a parser that may throw (a wrong key, a wrong type) and turns what it throws into Corrupt.
template <typename T, typename Parse>
Result<T> parse(std::string_view what, std::string_view text, const Parse& parse_json) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema").get<int>() != kSchema) {
      return Status(Code::Corrupt, fmt::format("{} of schema {}, this library reads {}; run the same Weft on all ranks",
                                               what, json.at("schema").dump(), kSchema));
    }
    return parse_json(json);
  } catch (const std::exception& error) {
    return Status(Code::Corrupt,
                  fmt::format("{} cannot be read: {}; run the same Weft on all ranks", what, error.what()));
  }
}

}  // namespace

std::string to_json(const RankFacts& facts) {
  return Json{{"schema", kSchema},
              {"host_id", facts.host_id},
              {"host_name", facts.host_name},
              {"cpus", facts.cpus},
              {"crosses_hosts", facts.crosses_hosts},
              {"addresses", addresses_to_json(facts.addresses)}}
      .dump(-1, ' ', true, Json::error_handler_t::replace);
}

Result<RankFacts> rank_facts_from_json(std::string_view text) {
  return parse<RankFacts>("a rank's facts", text, [](const Json& json) {
    return RankFacts{json.at("host_id").get<std::string>(), json.at("host_name").get<std::string>(),
                     json.at("cpus").get<std::vector<int>>(), addresses_from_json(json.at("addresses")),
                     json.at("crosses_hosts").get<std::vector<std::string>>()};
  });
}

std::string to_json(const RankView& view) {
  return Json{{"schema", kSchema}, {"reaches_leader", view.reaches_leader}, {"graph", view.graph}}.dump(
      -1, ' ', true, Json::error_handler_t::replace);
}

Result<RankView> rank_view_from_json(std::string_view text) {
  return parse<RankView>("what a rank sees", text, [](const Json& json) {
    return RankView{json.at("reaches_leader").get<std::vector<std::string>>(), json.at("graph").get<std::string>()};
  });
}

std::string to_json(const Agreement& agreement) {
  Json ranks = Json::array();
  for (const AgreedRank& rank : agreement.ranks) {
    ranks.push_back({{"host", rank.host},
                     {"addresses", addresses_to_json(rank.addresses)},
                     {"crosses_hosts", rank.crosses_hosts},
                     {"reaches_leader", rank.reaches_leader}});
  }
  return Json{{"schema", kSchema},
              {"ranks", ranks},
              {"hosts", agreement.hosts},
              {"oversubscribed", agreement.oversubscribed},
              {"transports", agreement.transports},
              {"graph", topology::to_json(agreement.graph)},
              {"algorithms", agreement.algorithms},
              {"channels", agreement.channels}}
      .dump(-1, ' ', true, Json::error_handler_t::replace);
}

Result<Agreement> agreement_from_json(std::string_view text) {
  std::string graph_text;
  Result<Agreement> agreement = parse<Agreement>("the agreement", text, [&](const Json& json) {
    Agreement read;
    read.hosts = json.at("hosts").get<std::vector<std::string>>();
    for (const Json& rank : json.at("ranks")) {
      const int host = rank.at("host").get<int>();
      if (host < 0 || static_cast<std::size_t>(host) >= read.hosts.size())
        throw std::invalid_argument("a rank names no host");
      read.ranks.push_back({.host = host,
                            .addresses = addresses_from_json(rank.at("addresses")),
                            .crosses_hosts = rank.at("crosses_hosts").get<std::vector<std::string>>(),
                            .reaches_leader = rank.at("reaches_leader").get<std::vector<std::string>>()});
    }
    read.oversubscribed = json.at("oversubscribed").get<std::vector<bool>>();
    if (read.oversubscribed.size() != read.hosts.size()) throw std::invalid_argument("hosts do not match");
    read.transports = json.at("transports").get<std::vector<std::string>>();
    graph_text = json.at("graph").get<std::string>();
    read.algorithms = json.at("algorithms").get<std::string>();
    read.channels = json.at("channels").get<int>();
    return read;
  });
  if (!agreement.has_value()) return agreement;
  WEFT_TRY_ASSIGN(agreement->graph, topology::from_json(graph_text));
  return agreement;
}

}  // namespace weft::comm
