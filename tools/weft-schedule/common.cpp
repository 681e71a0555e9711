// What several subcommands need: algorithms by name, the machine, files.
#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/output.hpp"
#include "base/plural.hpp"
#include "tools/weft-schedule/commands.hpp"
#include "topology/read_file.hpp"

namespace weft::schedule_tool {
namespace {

constexpr int kMaxToolRanks = 4096;
constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;

Status invalid(std::string message) { return Status(Code::InvalidArgument, std::move(message)); }

Result<topology::Graph> read_graph(const MachineArguments& arguments) {
  if (arguments.model) return topology::model(*arguments.model);
  if (arguments.topology) return topology::load(*arguments.topology);
  return topology::probe();
}

}  // namespace

Result<Collective> collective_named(std::string_view text) {
  const std::optional<Collective> collective = parse_collective(text);
  if (collective) return *collective;
  std::string known;
  for (int i = 0; i < kCollectives; ++i)
    known += fmt::format("{}{}", i == 0 ? "" : ", ", to_string(static_cast<Collective>(i)));
  return Status(Code::NotFound, fmt::format("there is no collective \"{}\"; known: {}", text, known));
}

Result<const Algorithm*> algorithm_named(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos)
    return invalid(fmt::format("\"{}\" is not COLLECTIVE/NAME; weft-schedule list shows them all", text));
  WEFT_TRY_ASSIGN(const Collective collective, collective_named(text.substr(0, slash)));
  if (const Algorithm* algorithm = find_algorithm(collective, text.substr(slash + 1))) return algorithm;
  std::string known;
  for (const Algorithm* algorithm : all_algorithms())
    if (algorithm->collective == collective) known += fmt::format("{}{}", known.empty() ? "" : ", ", algorithm->name);
  return Status(Code::NotFound, fmt::format("there is no {} algorithm \"{}\"; known: {}", to_string(collective),
                                            text.substr(slash + 1), known.empty() ? "none" : known));
}

Status check_support(const Algorithm& algorithm, const Group& group, int root) {
  if (root < 0 || root >= group.size)
    return invalid(fmt::format("root {} is not one of the {} ranks", root, group.size));
  const Request request = {.collective = algorithm.collective, .root = root, .count = 1024};
  const std::string_view why_not = algorithm.unsupported(group, request);
  if (why_not.empty()) return Status();
  return Status(Code::Unsupported, fmt::format("{}/{} cannot serve {} ranks: {}", to_string(algorithm.collective),
                                               algorithm.name, group.size, why_not));
}

Status check_channels(int channels) {
  if (channels >= 0 && channels <= base::kMaxChannels) return {};
  return invalid(fmt::format("--channels {} is not from 0 to {}", channels, base::kMaxChannels));
}

Result<int> replicas_for(const Algorithm& algorithm, int channels) {
  WEFT_TRY(check_channels(channels));
  if (channels == 0) return 1;
  const bool multiple = channels > 0 && channels % algorithm.native_channels == 0;
  if (multiple && (algorithm.replicable || channels == algorithm.native_channels))
    return channels / algorithm.native_channels;
  return invalid(fmt::format("{} runs on {}{}, not on {}", algorithm.name,
                             base::plural(algorithm.native_channels, "channel"),
                             algorithm.replicable ? " or a multiple of it" : " only", channels));
}

Result<Machine> make_machine(const MachineArguments& arguments) {
  if (arguments.ranks < 1 || arguments.ranks > kMaxToolRanks)
    return invalid(fmt::format("--ranks {} is not from 1 to {}", arguments.ranks, kMaxToolRanks));
  Machine machine;
  WEFT_TRY_ASSIGN(machine.graph, read_graph(arguments));
  WEFT_TRY_ASSIGN(machine.placement, topology::place(machine.graph, arguments.ranks, arguments.ranks_per_host));
  machine.group = topology::make_group(machine.graph, machine.placement);
  return machine;
}

Result<std::string> read_file(const std::string& path) { return topology::read_file(path, kMaxFileBytes); }

Status write_output(const std::optional<std::string>& path, std::string_view text) {
  return path ? base::write_file(*path, text) : write_output(text);
}

Status write_output(std::string_view text) { return base::write_stdout(text); }

}  // namespace weft::schedule_tool
