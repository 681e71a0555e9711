// The subcommands of weft-schedule, one file each, and what several of them need. Each gives the exit code, or what is
// wrong with its input.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/weft-schedule/arguments.hpp"
#include "weft/graph.hpp"
#include "weft/group.hpp"
#include "weft/schedule_builder.hpp"
#include "weft/status.hpp"

namespace weft::schedule_tool {

using base::kFine;
inline constexpr int kProofFailed = 1;

Result<int> list(const ListArguments& arguments);
Result<int> show(const ShowArguments& arguments);
Result<int> verify(const VerifyArguments& arguments);
Result<int> simulate(const SimulateArguments& arguments);
Result<int> explain(const ExplainArguments& arguments);

// "all_reduce/ring". NotFound lists what is known.
Result<const Algorithm*> algorithm_named(std::string_view text);
Result<Collective> collective_named(std::string_view text);

// Why `algorithm` cannot serve the group, as an error; else OK.
Status check_support(const Algorithm& algorithm, const Group& group, int root);
// InvalidArgument unless from 0 to the most that Weft runs.
Status check_channels(int channels);
// Replicas for so many channels in all; 0: the algorithm's own number. InvalidArgument if that cannot be.
Result<int> replicas_for(const Algorithm& algorithm, int channels);

struct Machine {
  topology::Graph graph;
  std::vector<int> placement;
  Group group;
};
Result<Machine> make_machine(const MachineArguments& arguments);

// At most 256 MiB.
Result<std::string> read_file(const std::string& path);
// Writes to the file, or to standard output without one.
Status write_output(const std::optional<std::string>& path, std::string_view text);
Status write_output(std::string_view text);

}  // namespace weft::schedule_tool
