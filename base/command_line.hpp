// What the command lines of Weft's programs have in common. Does not include CLI11, which takes long to compile: a
// program has one file that does.
#pragma once

#include <csignal>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "base/output.hpp"
#include "base/shortage.hpp"
#include "weft/status.hpp"

namespace weft::base {

inline constexpr int kFine = 0;
inline constexpr int kBadInput = 2;  // also usage, and output that cannot be written

template <typename Arguments>
struct ParsedCommandLine {
  std::optional<Arguments> arguments;  // without: only `text` is to be told
  std::string text;                    // help, or what is wrong
  bool wrong = false;
};

// The whole of a program's main: help, one line for what is wrong (also for want of memory), or `body(arguments)`,
// which gives the exit code.
template <typename Arguments, typename Body>
int run_program(std::string_view name, const ParsedCommandLine<Arguments>& parsed, Body body) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of the write
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that becomes larger than allowed (ulimit -f)
  end_well_without_memory(name, kBadInput);
  const auto fail = [name](std::string_view message) {
    complain(name, message);
    return kBadInput;
  };
  if (parsed.wrong) return fail(parsed.text);
  if (!parsed.arguments) {
    const Status told = write_stdout(parsed.text);
    return told.ok() ? kFine : fail(told.message());
  }
  // Here, so that on the way what must be removed is removed.
  try {
    const Result<int> code = body(*parsed.arguments);
    return code ? *code : fail(code.error().message());
  } catch (const std::bad_alloc&) {
    return tell_without_memory();
  }
}

// "--output=": CLI11 would take the next word for the value, or none where a flag may have one.
inline std::optional<std::string> find_empty_value(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") break;
    if (word.starts_with("--") && word.ends_with('=') && word.find('=') + 1 == word.size())
      return std::string(word.substr(0, word.size() - 1)) + ": is empty";
  }
  return std::nullopt;
}

// An empty value is a mistake, as of an unset shell variable; without this it would count as not given. `app` is a
// CLI::App whose options are complete.
template <typename App>
void refuse_empty_values(App& app) {
  for (auto* option : app.get_options())
    option->check([](const std::string& value) { return value.empty() ? "is empty" : ""; }, "");
}

}  // namespace weft::base
