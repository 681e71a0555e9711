// The one table of WEFT_* variables: what each means, and the field of Options that it sets. Options::from_environment
// reads it, docs/configuration.md and describe_configuration() are printed from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "weft/options.hpp"
#include "weft/status.hpp"

namespace weft::base {

struct Variable {
  std::string_view name;           // "WEFT_TIMEOUT"
  std::string_view type;           // what values look like: "seconds", "list of names"
  std::string_view default_value;  // as it would be written
  std::string_view field;          // of Options: "timeout_ms"
  std::string_view help;           // one line
  // Sets the field. The error says what a good value is; its caller adds variable and value. Null: read with the
  // launcher.
  Status (*apply)(std::string_view value, Options& options);
};

std::span<const Variable> variables();

// Sets what the environment sets. InvalidArgument names variable, value and remedy.
Status apply_configuration(const Environment& environment, Options& options);

// For each WEFT_* variable that is not in the table: a sentence that names the nearest one that is. WEFT_TEST_* are the
// tests' own.
std::vector<std::string> unknown_variables(const Environment& environment);

// A line per variable: name, the value it has in the environment or its default, help.
std::string describe_configuration(const Environment& environment);

// The text of docs/configuration.md.
std::string configuration_page();

}  // namespace weft::base
