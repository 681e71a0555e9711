// weft-schedule simulate: how long a schedule takes on a machine, and where the time goes.
#include "algorithms/simulate.hpp"

#include <fmt/format.h>

#include "algorithms/cost.hpp"
#include "algorithms/export.hpp"
#include "algorithms/selector.hpp"
#include "base/message_sizes.hpp"
#include "base/plural.hpp"
#include "tools/weft-schedule/commands.hpp"

namespace weft::schedule_tool {
namespace {

std::string summary(const Schedule& schedule, const Machine& machine, std::uint64_t bytes,
                    const algorithms::Simulation& simulation) {
  std::string text = fmt::format("{}/{} of {} on {} of {}, {}\n", to_string(schedule.collective), schedule.algorithm,
                                 base::format_bytes(bytes), base::plural(schedule.size, "rank"), machine.graph.name,
                                 base::plural(schedule.channels, "channel"));
  if (bytes > 0 && simulation.makespan_ps > 0) {
    const double gbs = static_cast<double>(bytes) * 1e3 / static_cast<double>(simulation.makespan_ps);
    text += fmt::format("bandwidth   {:.2f} GB/s of the algorithm, {:.2f} GB/s on the bus\n", gbs,
                        gbs * base::bus_factor(schedule.collective, schedule.size));
  }
  return text + algorithms::to_text(simulation);
}

}  // namespace

Result<int> simulate(const SimulateArguments& arguments) {
  WEFT_TRY_ASSIGN(const Algorithm* algorithm, algorithm_named(arguments.algorithm));
  WEFT_TRY_ASSIGN(const std::uint64_t bytes, base::parse_bytes(arguments.bytes));
  algorithms::SimulationOptions options;
  WEFT_TRY_ASSIGN(options.slice_bytes, base::parse_bytes(arguments.slice));
  if (options.slice_bytes == 0) return Status(Code::InvalidArgument, "--slice must be at least 1 byte");
  options.sharing = arguments.sharing == "queue" ? algorithms::Sharing::Queue : algorithms::Sharing::MaxMin;
  options.timeline = arguments.format != "text";
  WEFT_TRY_ASSIGN(const Machine machine, make_machine(arguments.machine));
  WEFT_TRY(check_support(*algorithm, machine.group, arguments.root));
  BuildOptions build;
  build.root = arguments.root;
  WEFT_TRY_ASSIGN(build.replicas, replicas_for(*algorithm, arguments.channels));
  const Schedule schedule = build_schedule(*algorithm, machine.group, build);
  const std::uint64_t count = algorithms::count_of_bytes(algorithm->collective, machine.group.size, bytes);
  WEFT_TRY_ASSIGN(algorithms::Fabric fabric, algorithms::Fabric::create(machine.graph, machine.placement));
  WEFT_TRY_ASSIGN(const algorithms::Simulation simulation,
                  algorithms::simulate(schedule, count, DataType::UInt8, fabric, options));
  std::string text;
  if (arguments.format == "text") text = summary(schedule, machine, bytes, simulation);
  if (arguments.format == "json") text = algorithms::to_json(simulation);
  if (arguments.format == "chrome") text = algorithms::to_chrome_trace(simulation);
  WEFT_TRY(write_output(arguments.output, text));
  return kFine;
}

}  // namespace weft::schedule_tool
