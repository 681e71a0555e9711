// Strict reading of our own JSON: every member has a type and a range, none may be missing, none unknown, none given
// twice. The first thing that is wrong is reported with its place, as in "ranks[3].channels[0][7].dst".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.hpp"

namespace weft::algorithms {

// Parses text. Corrupt names line and column. `what` is what the text should be: "schedule JSON".
Result<nlohmann::json> parse_json(std::string_view what, std::string_view text);

// Reads values below one document and keeps the first error; after an error all further reads give zeros, so a reader
// need not ask after each.
class JsonReader {
 public:
  using Json = nlohmann::json;
  explicit JsonReader(std::string_view what) : what_(what) {}

  // The object's members must be `required` and may be `optional`.
  bool members(const Json& object, const std::string& place, std::initializer_list<std::string_view> required,
               std::initializer_list<std::string_view> optional = {});
  std::int64_t integer(const Json& value, const std::string& place, std::int64_t least, std::int64_t most);
  std::string text(const Json& value, const std::string& place);
  bool boolean(const Json& value, const std::string& place);
  // An array of at most `most` elements; an empty one after an error.
  const Json& array(const Json& value, const std::string& place, std::size_t most);

  void fail(const std::string& place, std::string_view wrong);
  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }

 private:
  std::string what_;
  Status status_;
};

}  // namespace weft::algorithms
