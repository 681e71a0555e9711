// Typed reads of a document, with their complaints.
#include "base/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_shown.hpp"

namespace weft::base {
namespace {

using Json = nlohmann::json;

}  // namespace

Status JsonValue::read(bool& target) const {
  if (!json_->is_boolean()) return wrong("is not true or false");
  target = json_->get<bool>();
  return {};
}

Status JsonValue::read(double& target) const {
  if (!json_->is_number() || !std::isfinite(json_->get<double>())) return wrong("is not a number");
  target = json_->get<double>();
  return {};
}

Status JsonValue::read(std::string& target) const {
  if (!json_->is_string()) return wrong("is not a text");
  target = json_->get_ref<const std::string&>();
  return {};
}

Status JsonValue::read(std::uint64_t& target) const {
  if (!json_->is_number_unsigned()) return wrong("is not a whole number from 0");
  target = json_->get<std::uint64_t>();
  return {};
}

Status JsonValue::read(std::int64_t& target, std::int64_t least, std::int64_t most) const {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool fits = json_->is_number_unsigned() ? json_->get<std::uint64_t>() <= kMost : json_->is_number_integer();
  if (!fits || json_->get<std::int64_t>() < least || json_->get<std::int64_t>() > most)
    return wrong(fmt::format("is not a whole number from {} to {}", least, most));
  target = json_->get<std::int64_t>();
  return {};
}

Status JsonValue::read(int& target, std::int64_t least, std::int64_t most) const {
  std::int64_t number = 0;
  WEFT_TRY(read(number, std::max<std::int64_t>(least, std::numeric_limits<int>::min()),
                std::min<std::int64_t>(most, std::numeric_limits<int>::max())));
  target = static_cast<int>(number);
  return {};
}

bool JsonValue::is_null() const { return json_->is_null(); }

std::size_t JsonValue::size() const { return json_->size(); }

JsonValue JsonValue::element(std::size_t index) const { return {&(*json_)[index], Place{&place_, {}, index}}; }

std::optional<JsonValue> JsonValue::member(std::string_view name) const {
  if (!json_->is_object()) return std::nullopt;
  const auto& members = json_->get_ref<const Json::object_t&>();
  const auto found = members.find(name);
  if (found == members.end()) return std::nullopt;
  return JsonValue(&found->second, Place{&place_, name, 0});
}

Status JsonValue::check_object() const { return json_->is_object() ? Status() : wrong("is not an object"); }

Status JsonValue::check_list(std::size_t most) const {
  if (!json_->is_array()) return wrong("is not a list");
  if (json_->size() > most) return wrong(fmt::format("has {} elements, the most is {}", json_->size(), most));
  return {};
}

Status JsonValue::wrong(std::string_view complaint) const {
  const Place* document = &place_;
  while (document->above != nullptr) document = document->above;
  const std::string where = place_.above == nullptr ? "the document" : path(place_);
  return Status(Code::Corrupt, fmt::format("{}: {} {}", document->name, where, complaint));
}

std::string JsonValue::unknown_member(const std::vector<std::string_view>& known) const {
  for (const auto& [name, value] : json_->get_ref<const Json::object_t&>())
    if (std::find(known.begin(), known.end(), name) == known.end()) return shown(name);
  return {};
}

std::string JsonValue::path(const Place& place) {
  if (place.above == nullptr) return {};
  const std::string above = path(*place.above);
  if (place.name.empty()) return fmt::format("{}[{}]", above, place.index);
  return above.empty() ? std::string(place.name) : fmt::format("{}.{}", above, place.name);
}

Status JsonObject::finish() {
  if (ok() && value_.size() != taken_)
    fail(fmt::format("has the unknown member \"{}\"", value_.unknown_member(asked_)));
  return std::move(status_);
}

}  // namespace weft::base
