// weft-schedule: lists, shows, proves, simulates and exports collective schedules, and explains which one would run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>

#include "tools/weft-schedule/commands.hpp"
#include "weft/version.hpp"

namespace {

int fail(std::string message) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  fmt::print(stderr, "weft-schedule: {}\n", message);
  return weft::schedule_tool::kBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace weft::schedule_tool;
  CLI::App app(
      "Lists, shows, proves, simulates and exports Weft's collective schedules, and explains which one would run.\n"
      "ALGO is COLLECTIVE/NAME, as in all_reduce/ring. Sizes are powers of 1024: 8, 4k, 64M, 1G.\n"
      "Exit codes: 0 fine, 1 a proof failed, 2 usage or bad input.",
      "weft-schedule");
  app.set_version_flag("--version", std::string(weft::version()));
  app.set_help_all_flag("--help-all", "Help of all subcommands");
  app.require_subcommand(1);
  const Command commands[] = {add_list(app), add_show(app), add_verify(app), add_simulate(app), add_explain(app)};
  const auto is_named = [&](const Command& command) { return command.arguments->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(std::begin(commands), std::end(commands), is_named))
    return fail(fmt::format("there is no subcommand \"{}\"; see weft-schedule --help", argv[1]));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(std::string(error.what()) + "; see weft-schedule --help");
  }
  for (const Command& command : commands) {
    if (!command.arguments->parsed()) continue;
    const weft::Result<int> code = command.action();
    return code ? *code : fail(code.error().to_string());
  }
  return kBadInput;
}
