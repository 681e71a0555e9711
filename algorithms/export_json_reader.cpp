#include "algorithms/export_json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace weft::algorithms {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxJsonBytes = std::size_t{1} << 30;
constexpr int kMaxJsonDepth = 16;

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
                     before.size() - line_start + 1);
}

}  // namespace

Result<Json> parse_json(std::string_view what, std::string_view text) {
  if (text.size() > kMaxJsonBytes)
    return Status(Code::Corrupt, fmt::format("{}: longer than {} bytes", what, kMaxJsonBytes));
  std::vector<std::set<std::string>> members;
  // The callback ends the parse by throwing; that, like the parser's own errors, stops here.
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMaxJsonDepth) throw std::length_error(fmt::format("nested more than {} deep", kMaxJsonDepth));
    if (event == Json::parse_event_t::object_start) members.emplace_back();
    if (event == Json::parse_event_t::object_end) members.pop_back();
    if (event == Json::parse_event_t::key && !members.back().insert(value.get<std::string>()).second)
      throw std::length_error(fmt::format("\"{}\" is given twice", value.get<std::string>()));
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    return Status(Code::Corrupt, fmt::format("{}: not JSON at {}", what, line_and_column(text, error.byte)));
  } catch (const std::exception& error) {
    return Status(Code::Corrupt, fmt::format("{}: {}", what, error.what()));
  }
}

bool JsonReader::members(const Json& object, const std::string& place, std::initializer_list<std::string_view> required,
                         std::initializer_list<std::string_view> optional) {
  if (!object.is_object()) fail(place, "is not an object");
  if (!ok()) return false;
  for (const std::string_view name : required)
    if (!object.contains(name)) fail(place, fmt::format("lacks \"{}\"", name));
  const auto known = [&](const std::string& name) {
    return std::find(required.begin(), required.end(), name) != required.end() ||
           std::find(optional.begin(), optional.end(), name) != optional.end();
  };
  for (const auto& member : object.items())
    if (!known(member.key())) fail(place, fmt::format("has the unknown member \"{}\"", member.key().substr(0, 64)));
  return ok();
}

std::int64_t JsonReader::integer(const Json& value, const std::string& place, std::int64_t least, std::int64_t most) {
  const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)
                                               : value.is_number_integer();
  if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    fail(place, fmt::format("is not a whole number from {} to {}", least, most));
  return ok() ? value.get<std::int64_t>() : 0;
}

std::string JsonReader::text(const Json& value, const std::string& place) {
  if (!value.is_string()) fail(place, "is not a text");
  return ok() ? value.get<std::string>() : std::string();
}

bool JsonReader::boolean(const Json& value, const std::string& place) {
  if (!value.is_boolean()) fail(place, "is not true or false");
  return ok() && value.get<bool>();
}

const Json& JsonReader::array(const Json& value, const std::string& place, std::size_t most) {
  static const Json kEmpty = Json::array();
  if (!value.is_array())
    fail(place, "is not a list");
  else if (value.size() > most)
    fail(place, fmt::format("has more than {} elements", most));
  return ok() ? value : kEmpty;
}

void JsonReader::fail(const std::string& place, std::string_view wrong) {
  if (ok()) status_ = Status(Code::Corrupt, fmt::format("{}: {} {}", what_, place, wrong));
}

}  // namespace weft::algorithms
