// What the command lines of Weft's programs have in common. Does not include CLI11, which takes long to compile: a
// program has one file that does.
#pragma once

#include <optional>
#include <string>

namespace weft::base {

template <typename Arguments>
struct ParsedCommandLine {
  std::optional<Arguments> arguments;  // without: only `text` is to be told
  std::string text;                    // help, or what is wrong
  bool wrong = false;
};

// An empty value is a mistake, as of an unset shell variable; without this it would count as not given. `app` is a
// CLI::App whose options are complete.
template <typename App>
void refuse_empty_values(App& app) {
  for (auto* option : app.get_options())
    option->check([](const std::string& value) { return value.empty() ? "is empty" : ""; }, "");
}

}  // namespace weft::base
