// weft-schedule show: what every rank does, as text, JSON or DOT.
#include <fmt/format.h>

#include "algorithms/export.hpp"
#include "tools/weft-schedule/commands.hpp"

namespace weft::schedule_tool {
namespace {

constexpr int kMaxShownRanks = 1024;
constexpr int kAllRanks = -1;  // for the builder and the exporters

Status check_order(const Algorithm& algorithm, const ShowArguments& arguments) {
  if (!arguments.invariant || algorithm.invariant) return {};
  return Status(Code::Unsupported, fmt::format("--invariant: {}/{} reduces in another order, or nothing at all",
                                               to_string(algorithm.collective), algorithm.name));
}

}  // namespace

Result<int> show(const ShowArguments& arguments) {
  WEFT_TRY_ASSIGN(const Algorithm* algorithm, algorithm_named(arguments.algorithm));
  if (arguments.ranks < 1 || arguments.ranks > kMaxShownRanks)
    return Status(Code::InvalidArgument,
                  fmt::format("--ranks {} is not from 1 to {}", arguments.ranks, kMaxShownRanks));
  const int rank = arguments.rank.value_or(kAllRanks);
  if (arguments.rank && (rank < 0 || rank >= arguments.ranks))
    return Status(Code::InvalidArgument, fmt::format("--rank {} is not one of the {} ranks", rank, arguments.ranks));
  const Group group = flat_group(arguments.ranks);
  WEFT_TRY(check_support(*algorithm, group, arguments.root));
  WEFT_TRY(check_order(*algorithm, arguments));
  BuildOptions options;
  options.root = arguments.root;
  options.in_place = arguments.in_place;
  options.uneven = arguments.uneven;
  options.canonical = arguments.invariant;
  WEFT_TRY_ASSIGN(options.replicas, replicas_for(*algorithm, arguments.channels));
  // The picture of the text shows all ranks, so all are built; the other forms of one rank hold its steps only.
  if (arguments.format != "text") options.only_rank = rank;
  const Schedule schedule = build_schedule(*algorithm, group, options);
  std::string text;
  if (arguments.format == "text") text = algorithms::to_text(schedule, rank);
  if (arguments.format == "json") text = algorithms::to_json(schedule);
  if (arguments.format == "dot") text = algorithms::to_dot(schedule);
  WEFT_TRY(write_output(arguments.output, text));
  return kFine;
}

}  // namespace weft::schedule_tool
