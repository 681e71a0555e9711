// The only place that compiles the JSON parser: text to a document in one pass. What a plan does not keep is checked as
// JSON and never built.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "base/json_shown.hpp"

namespace weft::base {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxJsonBytes = std::size_t{256} << 20;
constexpr std::size_t kMaxDepth = 16;
constexpr int kNumberOverflow = 406;  // the parser's number for it

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
                     before.size() - line_start + 1);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_between(char c) { return is_blank(c) || c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}'; }

// Where the first text, number or run of blanks begins that is longer than `most`: the parser keeps copies of such.
std::size_t find_long_word(std::string_view text, std::size_t most) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
      ++at;
    } else if (is_blank(text[at])) {
      while (at < text.size() && is_blank(text[at])) ++at;
    } else if (is_between(text[at])) {
      ++at;
    } else {
      while (at < text.size() && text[at] != '"' && !is_between(text[at])) ++at;
    }
    if (at - start > most) return start;
  }
  return std::string_view::npos;
}

// Receives what the parser finds and builds the document. (The parser's own hook for checks on the way is quadratic in
// long lists.)
class Builder {
 public:
  Builder(std::string_view what, std::string_view text, const JsonPlan& plan) : what_(what), text_(text), plan_(plan) {}

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string&) { return put(value); }
  bool string(std::string& value) { return passing_over_ ? put(nullptr) : put(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }  // not in text
  bool start_object(std::size_t) { return open(Json::value_t::object); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(Json::value_t::array); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (passing_over_) return true;
    const auto [member, fresh] = open_.back()->get_ref<Json::object_t&>().try_emplace(name);
    member_ = &member->second;
    if (!fresh) return refuse(fmt::format("\"{}\" is given twice", shown(name)));
    if (depth_ <= kMaxListDepth) name_[depth_ - 1] = name;
    return true;
  }
  bool parse_error(std::size_t byte, const std::string& token, const Json::exception& error) {
    const std::string where = line_and_column(text_, byte);
    return refuse(error.id == kNumberOverflow
                      ? fmt::format("the number {} at {} is too large", token.substr(0, kShownText), where)
                      : fmt::format("not JSON at {}", where));
  }

  Json take_document() { return std::move(document_); }
  Status take_status() { return std::move(status_); }

 private:
  static constexpr std::size_t kMaxListDepth = 2;  // members in the path of a JsonList

  bool refuse(std::string_view complaint) {
    status_ = Status(Code::Corrupt, fmt::format("{}: {}", what_, complaint));
    return false;
  }

  bool put(Json value) {
    if (passing_over_) return true;
    if (!count()) return false;
    place(is_kept() && list_here() == nullptr ? std::move(value) : Json());
    return end_value();
  }

  bool open(Json::value_t type) {
    if (depth_ == kMaxDepth) return refuse(fmt::format("nested more than {} deep", kMaxDepth));
    if (!passing_over_) {
      if (!count()) return false;
      const JsonList* const list = list_here();
      const bool is_list = list != nullptr && type == Json::value_t::array;
      const bool kept = is_kept() && (list == nullptr || is_list);
      passing_over_ = !kept || (is_list && !list->read_one);
      Json* const placed = place(kept ? Json(type) : Json());
      if (passing_over_)
        passed_over_depth_ = depth_;
      else
        open_.push_back(placed);
      if (is_list && !passing_over_) begin_list(*list);
    }
    ++depth_;
    return true;
  }

  bool close() {
    --depth_;
    if (passing_over_) {
      passing_over_ = depth_ != passed_over_depth_;
      return true;
    }
    open_.pop_back();
    if (list_ != nullptr && depth_ < list_depth_) list_ = nullptr;
    return end_value();
  }

  // Where the value is kept stays valid while that value is open.
  Json* place(Json value) {
    if (open_.empty()) return &(document_ = std::move(value));
    if (open_.back()->is_object()) return &(*member_ = std::move(value));
    if (in_list()) return &(element_ = std::move(value));
    return &open_.back()->get_ref<Json::array_t&>().emplace_back(std::move(value));
  }

  bool count() {
    return ++values_ <= plan_.most_values || refuse(fmt::format("more than {} values in one place", plan_.most_values));
  }
  bool is_kept() const {
    return depth_ != 1 || plan_.kept.empty() || !open_.front()->is_object() ||
           std::find(plan_.kept.begin(), plan_.kept.end(), name_[0]) != plan_.kept.end();
  }
  // The list whose place the next value takes; null: none.
  const JsonList* list_here() const {
    if (plan_.lists.empty() || depth_ == 0 || depth_ > kMaxListDepth || list_ != nullptr) return nullptr;
    for (const Json* value : open_)
      if (!value->is_object()) return nullptr;
    const std::string path = depth_ == 1 ? name_[0] : fmt::format("{}.{}", name_[0], name_[1]);
    const auto found =
        std::find_if(plan_.lists.begin(), plan_.lists.end(), [&](const JsonList& list) { return list.path == path; });
    return found == plan_.lists.end() ? nullptr : &*found;
  }

  void begin_list(const JsonList& list) {
    list_ = &list;
    list_depth_ = depth_ + 1;
    index_ = 0;
    values_outside_ = values_;
  }
  // Whether the next value is an element of a list that is not kept.
  bool in_list() const { return list_ != nullptr && depth_ == list_depth_; }
  bool end_value() {
    if (!in_list()) return true;
    if (status_ = read_element(); !status_.ok()) return false;
    ++index_;
    element_ = nullptr;
    values_ = values_outside_;
    return true;
  }
  Status read_element() const {
    const JsonValue document(document_, what_);
    const JsonValue outer = *document.member(name_[0]);
    const std::optional<JsonValue> inner = list_depth_ > 2 ? outer.member(name_[1]) : std::nullopt;
    const JsonValue& list = inner ? *inner : outer;
    if (index_ >= list_->most) return list.wrong(fmt::format("has more than {} elements", list_->most));
    return list_->read_one(list.element_kept_at(element_, index_));
  }

  std::string_view what_;
  std::string_view text_;
  const JsonPlan& plan_;
  Json document_;
  std::vector<Json*> open_;  // but what is passed over
  Json* member_ = nullptr;   // of the innermost open object: the one whose value comes next
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
  std::string name_[kMaxListDepth];  // the path to the innermost open value
  bool passing_over_ = false;
  std::size_t passed_over_depth_ = 0;
  const JsonList* list_ = nullptr;  // the open one, its depth, and its element that is being read
  std::size_t list_depth_ = 0;
  std::size_t index_ = 0;
  std::size_t values_outside_ = 0;
  Json element_;
  Status status_;
};

}  // namespace

Result<JsonDocument> JsonDocument::parse(std::string_view what, std::string_view text, const JsonPlan& plan) {
  const auto refused = [&](std::string_view complaint) {
    return Status(Code::Corrupt, fmt::format("{}: {}", what, complaint));
  };
  if (text.size() > kMaxJsonBytes)
    return refused(fmt::format("{} bytes are more than the most, {}", text.size(), kMaxJsonBytes));
  if (text.empty()) return refused("there is nothing in it");
  if (const std::size_t at =
          text.size() > plan.most_word_bytes ? find_long_word(text, plan.most_word_bytes) : std::string_view::npos;
      at != std::string_view::npos)
    return refused(fmt::format("the text, number or blank at {} is longer than {} bytes", line_and_column(text, at + 1),
                               plan.most_word_bytes));
  Builder builder(what, text, plan);
  if (!Json::sax_parse(text, &builder)) return builder.take_status();
  return JsonDocument(what, builder.take_document());
}

JsonDocument::JsonDocument(std::string_view what, Json json)
    : what_(what), json_(std::make_unique<Json>(std::move(json))) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

}  // namespace weft::base
