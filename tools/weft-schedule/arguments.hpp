// The command line of weft-schedule as values, one struct for each subcommand. Parsed once, trusted afterwards as far
// as types go; what the values may be is checked where they are used.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/command_line.hpp"

namespace weft::schedule_tool {

// Where ranks run: --model, --topology, --ranks and --ranks-per-host.
struct MachineArguments {
  std::optional<std::string> model;
  std::optional<std::string> topology;
  int ranks = 0;
  int ranks_per_host = 0;
};

struct ListArguments {
  std::optional<std::string> collective;
  bool json = false;
};

struct ShowArguments {
  std::string algorithm;
  int ranks = 0;
  std::optional<int> rank;
  int root = 0;
  int channels = 0;
  bool in_place = false;
  bool uneven = false;
  bool invariant = false;
  std::string format = "text";  // json, dot
  std::optional<std::string> output;
};

struct CaseArguments {
  std::optional<std::string> algorithm;  // without: all. Or a file, if it ends in .json
  std::string ranks = "1-32";
  std::string roots = "0";                    // or "all"
  std::optional<std::string> channels;        // without: each algorithm's own
  std::optional<std::string> ranks_per_host;  // without: one host
};

struct VerifyArguments {
  CaseArguments cases;
  bool all = false;
  std::optional<std::string> from;
  int jobs = 2;
};

struct SimulateArguments {
  std::string algorithm;
  MachineArguments machine;
  std::string bytes;
  int root = 0;
  int channels = 0;
  std::string slice = "64k";
  std::string sharing = "fair";  // queue
  std::string format = "text";   // json, chrome
  std::optional<std::string> output;
};

struct ExplainArguments {
  std::string collective;
  MachineArguments machine;
  std::string bytes;
  std::string dtype = "float32";
  std::string op = "sum";
  int root = 0;
  int channels = 0;
  std::string overrides;
  std::optional<std::string> table;
  std::vector<std::string> schedules;
  bool json = false;
};

using Arguments = std::variant<ListArguments, ShowArguments, VerifyArguments, SimulateArguments, ExplainArguments>;

using Parsed = base::ParsedCommandLine<Arguments>;
Parsed parse(int argc, char** argv);

}  // namespace weft::schedule_tool
