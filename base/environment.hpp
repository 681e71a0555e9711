// Environment: the variables of a process as a value, so that what reads them can be tested with others.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::base {

class Environment {
 public:
  using Variables = std::map<std::string, std::string, std::less<>>;

  explicit Environment(Variables variables) : variables_(std::move(variables)) {}
  static Environment of_process();

  // Nothing if unset or empty: an empty variable is the usual way to switch one off.
  std::optional<std::string_view> get(std::string_view name) const;
  bool has(std::string_view name) const { return get(name).has_value(); }
  std::vector<std::string_view> names_with_prefix(std::string_view prefix) const;

 private:
  Variables variables_;
};

}  // namespace weft::base
