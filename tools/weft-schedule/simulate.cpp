// weft-schedule simulate: how long a schedule takes on a machine, and where the time goes.
#include "algorithms/simulate.hpp"

#include <fmt/format.h>

#include <memory>

#include "algorithms/cost.hpp"
#include "algorithms/export.hpp"
#include "algorithms/selector.hpp"
#include "tools/weft-schedule/commands.hpp"

namespace weft::schedule_tool {
namespace {

struct Arguments {
  std::string algorithm;
  MachineArguments machine;
  std::string bytes;
  int root = 0;
  int channels = 0;
  std::string slice = "64k";
  std::string sharing = "fair";
  std::string format = "text";
  std::string output;
};

// Bus bandwidth is the algorithm's times this, in the terms of nccl-tests.
double bus_factor(Collective collective, int ranks) {
  const double n = ranks;
  switch (collective) {
    case Collective::AllReduce:
      return 2 * (n - 1) / n;
    case Collective::AllGather:
    case Collective::ReduceScatter:
    case Collective::AllToAll:
    case Collective::Gather:
    case Collective::Scatter:
      return (n - 1) / n;
    default:
      return 1;
  }
}

std::string summary(const Schedule& schedule, const Machine& machine, std::uint64_t bytes,
                    const algorithms::Simulation& simulation) {
  std::string text = fmt::format("{}/{} of {} on {} ranks of {}, {} channel{}\n", to_string(schedule.collective),
                                 schedule.algorithm, algorithms::format_bytes(bytes), schedule.size, machine.graph.name,
                                 schedule.channels, schedule.channels == 1 ? "" : "s");
  if (bytes > 0 && simulation.makespan_ps > 0) {
    const double gbs = static_cast<double>(bytes) * 1e3 / static_cast<double>(simulation.makespan_ps);
    text += fmt::format("bandwidth   {:.2f} GB/s of the algorithm, {:.2f} GB/s on the bus\n", gbs,
                        gbs * bus_factor(schedule.collective, schedule.size));
  }
  return text + algorithms::to_text(simulation);
}

Result<int> run(const Arguments& arguments) {
  WEFT_TRY_ASSIGN(const Algorithm* algorithm, algorithm_named(arguments.algorithm));
  WEFT_TRY_ASSIGN(const std::uint64_t bytes, algorithms::parse_bytes(arguments.bytes));
  algorithms::SimulationOptions options;
  WEFT_TRY_ASSIGN(options.slice_bytes, algorithms::parse_bytes(arguments.slice));
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

}  // namespace

Command add_simulate(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* simulate = app.add_subcommand("simulate", "Simulates a schedule on a machine");
  simulate->add_option("ALGO", arguments->algorithm, "The algorithm, as in all_reduce/ring")->required();
  arguments->machine.add_to(*simulate);
  simulate->add_option("--bytes", arguments->bytes, "Size of the message as nccl-tests counts it, as in 64M")
      ->required();
  simulate->add_option("--root", arguments->root, "Root of broadcast, reduce, gather and scatter")
      ->capture_default_str();
  simulate->add_option("--channels", arguments->channels, "Channels in all; 0: the algorithm's own number");
  simulate->add_option("--slice", arguments->slice, "Bytes that a fused step forwards at a time")
      ->capture_default_str();
  simulate->add_option("--sharing", arguments->sharing, "How messages share a link: fair (max-min) or queue")
      ->check(CLI::IsMember({"fair", "queue"}))
      ->capture_default_str();
  simulate->add_option("--format", arguments->format, "text, json or chrome (for chrome://tracing and Perfetto)")
      ->check(CLI::IsMember({"text", "json", "chrome"}))
      ->capture_default_str();
  simulate->add_option("--output", arguments->output, "Write to this file");
  return {simulate, [arguments] { return run(*arguments); }};
}

}  // namespace weft::schedule_tool
