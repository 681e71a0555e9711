// Strict reading of our own JSON: every member has a type and a range, none may be missing, none unknown, none given
// twice. What is wrong is Corrupt and names its place, as in "schedule JSON: ranks[3].channels[0][7].peer is not ...".
//
//   WEFT_TRY_ASSIGN(const JsonDocument document, JsonDocument::parse("schedule JSON", text));
//   JsonObject object(document.root());
//   object.required("size", schedule.size, 1, kMaxRanks);
//   return object.finish();
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/status.hpp"

namespace weft::base {

// A value of a document and its place there. Costs nothing to make: a place becomes text when it is complained about.
// Valid as long as the value or object that it was taken from.
class JsonValue {
 public:
  // The whole document; `what` it should be, for messages.
  JsonValue(const nlohmann::json& json, std::string_view what) : json_(&json), place_{nullptr, what, 0} {}

  // Each leaves `target` as it is if it fails.
  Status read(bool& target) const;
  Status read(double& target) const;  // finite
  Status read(std::string& target) const;
  Status read(std::uint64_t& target) const;
  Status read(std::int64_t& target, std::int64_t least, std::int64_t most) const;
  Status read(int& target, std::int64_t least = std::numeric_limits<int>::min(),
              std::int64_t most = std::numeric_limits<int>::max()) const;
  // A name of an enumeration: `parse` gives nothing for other names. `what` is "the name of a step".
  template <typename Enum, typename Parse>
  Status read_name(Enum& target, Parse parse, std::string_view what) const {
    std::string name;
    WEFT_TRY(read(name));
    const std::optional<Enum> known = parse(name);
    if (!known) return wrong("is not " + std::string(what));
    target = *known;
    return {};
  }
  // A list of at most `most` elements: each is given to `read_one`, up to the first that fails.
  template <typename ReadOne>
  Status read_list(std::size_t most, ReadOne read_one) const {
    WEFT_TRY(check_list(most));
    for (std::size_t i = 0; i < size(); ++i) WEFT_TRY(read_one(element(i)));
    return {};
  }

  // Elements of a list or members of an object.
  std::size_t size() const;
  // Of a list, whose size is known to be greater.
  JsonValue element(std::size_t index) const;
  // Of an object; nothing if it has no such member, or is no object.
  std::optional<JsonValue> member(std::string_view name) const;
  // An element of this list that is kept elsewhere.
  JsonValue element_kept_at(const nlohmann::json& json, std::size_t index) const {
    return {&json, Place{&place_, {}, index}};
  }

  bool is_null() const;
  Status check_object() const;
  Status check_list(std::size_t most) const;
  // Corrupt: "<what>: <place> <complaint>".
  Status wrong(std::string_view complaint) const;
  // One of an object's members that are not `known`; empty if there is none.
  std::string unknown_member(const std::vector<std::string_view>& known) const;

 private:
  struct Place {
    const Place* above;     // null for the document
    std::string_view name;  // of a member; empty: an element of a list. For the document: what it should be
    std::size_t index;      // of an element
  };
  JsonValue(const nlohmann::json* json, Place place) : json_(json), place_(place) {}
  static std::string path(const Place& place);

  const nlohmann::json* json_;
  Place place_;
};

// Takes an object's members by name and keeps the first error. finish() finds what nobody asked for.
class JsonObject {
 public:
  explicit JsonObject(const JsonValue& value) : value_(value), status_(value.check_object()) {
    asked_.reserve(kMembers);
  }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  // As JsonValue::read(target, limits...).
  template <typename... To>
  void required(std::string_view name, To&&... to) {
    required_by(name, [&](const JsonValue& value) { return value.read(std::forward<To>(to)...); });
  }
  // Without the member, `target` stays as it is.
  template <typename T, typename... Limits>
  void optional(std::string_view name, T& target, Limits... limits) {
    optional_by(name, [&](const JsonValue& value) { return value.read(target, limits...); });
  }
  template <typename T>
  void optional(std::string_view name, std::optional<T>& target) {
    optional_by(name, [&](const JsonValue& value) { return value.read(target.emplace()); });
  }
  // Any other way: `read(value)` gives a Status.
  template <typename Read>
  void required_by(std::string_view name, Read read) {
    if (!take(name, read)) fail("lacks \"" + std::string(name) + "\"");
  }
  template <typename Read>
  void optional_by(std::string_view name, Read read) {
    take(name, read);
  }

  bool ok() const { return status_.ok(); }
  // The first error; else OK, or Corrupt if there is a member that was not asked for.
  Status finish();

 private:
  template <typename Read>
  bool take(std::string_view name, Read read) {
    if (!ok()) return true;
    asked_.push_back(name);
    const std::optional<JsonValue> member = value_.member(name);
    if (!member) return false;
    ++taken_;
    status_ = read(*member);
    return true;
  }
  void fail(std::string_view complaint) {
    if (ok()) status_ = value_.wrong(complaint);
  }

  const JsonValue value_;
  Status status_;
  static constexpr std::size_t kMembers = 24;  // of most objects at most
  std::vector<std::string_view> asked_;
  std::size_t taken_ = 0;
};

// A list that is not kept: each element is given to `read_one` as soon as its text was read, up to the first that
// fails, and then forgotten. In the document the list is empty.
struct JsonList {
  std::string_view path;                             // "nodes" of the document, or "graph.nodes" of its member "graph"
  std::size_t most = 0;                              // elements
  std::function<Status(const JsonValue&)> read_one;  // none: the list is passed over
};

// What is made of a text, for long ones that nobody vouches for: they take the memory of what is kept alone.
struct JsonPlan {
  std::vector<JsonList> lists;         // other values in their places become null
  std::vector<std::string_view> kept;  // members of the document; others become null. None named: all are kept
  std::size_t most_values = std::numeric_limits<std::size_t>::max();      // kept at one time
  std::size_t most_word_bytes = std::numeric_limits<std::size_t>::max();  // of one text, number or run of blanks
};

class JsonDocument {
 public:
  // Corrupt names line and column; nesting deeper than 16, more than 256 MiB and members given twice are refused.
  // `what` is what the text should be: "schedule JSON".
  static Result<JsonDocument> parse(std::string_view what, std::string_view text, const JsonPlan& plan = {});

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();

  JsonValue root() const { return JsonValue(*json_, what_); }

 private:
  JsonDocument(std::string_view what, nlohmann::json json);

  std::string what_;
  std::unique_ptr<nlohmann::json> json_;
};

}  // namespace weft::base
