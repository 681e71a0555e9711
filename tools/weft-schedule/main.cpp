// weft-schedule: lists, shows, proves, simulates and exports collective schedules, and explains which one would run.
#include <csignal>

#include "base/output.hpp"
#include "tools/weft-schedule/commands.hpp"

namespace weft::schedule_tool {
namespace {

struct Run {
  Result<int> operator()(const ListArguments& arguments) const { return list(arguments); }
  Result<int> operator()(const ShowArguments& arguments) const { return show(arguments); }
  Result<int> operator()(const VerifyArguments& arguments) const { return verify(arguments); }
  Result<int> operator()(const SimulateArguments& arguments) const { return simulate(arguments); }
  Result<int> operator()(const ExplainArguments& arguments) const { return explain(arguments); }
};

int fail(std::string_view message) {
  base::complain("weft-schedule", message);
  return kBadInput;
}

int run(int argc, char** argv) {
  const Parsed parsed = parse(argc, argv);
  if (parsed.wrong) return fail(parsed.text);
  if (!parsed.arguments) {
    const Status told = base::write_stdout(parsed.text);
    return told.ok() ? kFine : fail(told.message());
  }
  const Result<int> code = std::visit(Run(), *parsed.arguments);
  return code ? *code : fail(code.error().message());
}

}  // namespace
}  // namespace weft::schedule_tool

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of the write
  return weft::schedule_tool::run(argc, argv);
}
