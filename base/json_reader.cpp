// The only place that compiles the JSON parser: text to a document in one pass, and typed reads with their complaints.
#include "base/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace weft::base {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxJsonBytes = std::size_t{256} << 20;
constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kShownText = 64;  // of a name or number from the document
constexpr int kNumberOverflow = 406;    // the parser's number for it

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
                     before.size() - line_start + 1);
}

// The beginning of a name from the document, on one line.
std::string shown(std::string_view name) {
  std::string text(name.substr(0, kShownText));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return text;
}

// Receives what the parser finds and builds the document. (The parser's own hook for checks on the way is quadratic in
// long lists.)
class Builder {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }  // not in text
  bool start_object(std::size_t) { return open(Json::object()); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    const auto [member, fresh] = open_.back()->get_ref<Json::object_t&>().try_emplace(name);
    member_ = &member->second;
    if (!fresh) complaint_ = fmt::format("\"{}\" is given twice", shown(name));
    return fresh;
  }
  bool parse_error(std::size_t byte, const std::string& token, const Json::exception& error) {
    const std::string where = line_and_column(text_, byte);
    complaint_ = error.id == kNumberOverflow
                     ? fmt::format("the number {} at {} is too large", token.substr(0, kShownText), where)
                     : fmt::format("not JSON at {}", where);
    return false;
  }

  Json take_document() { return std::move(document_); }
  const std::string& complaint() const { return complaint_; }

 private:
  // Where the value is kept stays valid while that value is open.
  Json* place(Json value) {
    if (open_.empty()) return &(document_ = std::move(value));
    if (open_.back()->is_object()) return &(*member_ = std::move(value));
    return &open_.back()->get_ref<Json::array_t&>().emplace_back(std::move(value));
  }
  bool put(Json value) { return place(std::move(value)) != nullptr; }
  bool open(Json value) {
    open_.push_back(place(std::move(value)));
    if (open_.size() <= kMaxDepth) return true;
    complaint_ = fmt::format("nested more than {} deep", kMaxDepth);
    return false;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  Json document_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;  // of the innermost open object: the one whose value comes next
  std::string complaint_;
};

}  // namespace

Result<JsonDocument> JsonDocument::parse(std::string_view what, std::string_view text) {
  if (text.size() > kMaxJsonBytes)
    return Status(Code::Corrupt,
                  fmt::format("{}: {} bytes are more than the most, {}", what, text.size(), kMaxJsonBytes));
  if (text.empty()) return Status(Code::Corrupt, fmt::format("{}: there is nothing in it", what));
  Builder builder(text);
  if (!Json::sax_parse(text, &builder)) return Status(Code::Corrupt, fmt::format("{}: {}", what, builder.complaint()));
  return JsonDocument(what, builder.take_document());
}

JsonDocument::JsonDocument(std::string_view what, Json json)
    : what_(what), json_(std::make_unique<Json>(std::move(json))) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

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
