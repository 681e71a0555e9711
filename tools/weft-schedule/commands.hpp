// The subcommands of weft-schedule, one file each, and what several of them need.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/graph.hpp"
#include "weft/group.hpp"
#include "weft/schedule_builder.hpp"
#include "weft/status.hpp"

namespace weft::schedule_tool {

// What runs once the arguments are known: the exit code, or the one line that says what is wrong with the input.
using Action = std::function<Result<int>()>;
inline constexpr int kFine = 0;
inline constexpr int kProofFailed = 1;
inline constexpr int kBadInput = 2;

struct Command {
  CLI::App* arguments = nullptr;
  Action action;
};

Command add_list(CLI::App& app);
Command add_show(CLI::App& app);
Command add_verify(CLI::App& app);
Command add_simulate(CLI::App& app);
Command add_explain(CLI::App& app);

// "all_reduce/ring". NotFound lists what is known.
Result<const Algorithm*> algorithm_named(std::string_view text);
Result<Collective> collective_named(std::string_view text);

// Why `algorithm` cannot serve the group, as an error; else OK.
Status check_support(const Algorithm& algorithm, const Group& group, int root);
// InvalidArgument unless from 0 to the most that Weft runs.
Status check_channels(int channels);
// Replicas for so many channels in all; 0: the algorithm's own number. InvalidArgument if that cannot be.
Result<int> replicas_for(const Algorithm& algorithm, int channels);

// --model, --topology, --ranks and --ranks-per-host: where ranks run.
struct MachineArguments {
  std::string model;
  std::string topology;
  int ranks = 0;
  int ranks_per_host = 0;

  void add_to(CLI::App& app);
};
struct Machine {
  topology::Graph graph;
  std::vector<int> placement;
  Group group;
};
Result<Machine> make_machine(const MachineArguments& arguments);

// At most 256 MiB.
Result<std::string> read_file(const std::string& path);
// Writes to the file, or to standard output if `path` is empty.
Status write_output(const std::string& path, std::string_view text);

}  // namespace weft::schedule_tool
