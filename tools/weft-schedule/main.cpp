// weft-schedule: lists, shows, proves, simulates and exports collective schedules, and explains which one would run.
#include <variant>

#include "base/command_line.hpp"
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

Result<int> run(const Arguments& arguments) { return std::visit(Run(), arguments); }

}  // namespace
}  // namespace weft::schedule_tool

int main(int argc, char** argv) {
  using namespace weft::schedule_tool;
  return weft::base::run_program("weft-schedule", parse(argc, argv), run);
}
