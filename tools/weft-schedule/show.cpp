// weft-schedule show: what every rank does, as text, JSON or DOT.
#include <fmt/format.h>

#include <memory>

#include "algorithms/export.hpp"
#include "tools/weft-schedule/commands.hpp"

namespace weft::schedule_tool {
namespace {

struct Arguments {
  std::string algorithm;
  int ranks = 0;
  int rank = -1;
  int root = 0;
  int channels = 0;
  bool in_place = false;
  std::string format = "text";
  std::string output;
};

constexpr int kMaxShownRanks = 1024;

Result<int> run(const Arguments& arguments) {
  WEFT_TRY_ASSIGN(const Algorithm* algorithm, algorithm_named(arguments.algorithm));
  if (arguments.ranks < 1 || arguments.ranks > kMaxShownRanks)
    return Status(Code::InvalidArgument,
                  fmt::format("--ranks {} is not from 1 to {}", arguments.ranks, kMaxShownRanks));
  if (arguments.rank < -1 || arguments.rank >= arguments.ranks)
    return Status(Code::InvalidArgument,
                  fmt::format("--rank {} is not one of the {} ranks", arguments.rank, arguments.ranks));
  const Group group = flat_group(arguments.ranks);
  WEFT_TRY(check_support(*algorithm, group, arguments.root));
  BuildOptions options;
  options.root = arguments.root;
  options.in_place = arguments.in_place;
  WEFT_TRY_ASSIGN(options.replicas, replicas_for(*algorithm, arguments.channels));
  // The picture of the text shows all ranks, so all are built; the other forms of one rank hold its steps only.
  if (arguments.format != "text") options.only_rank = arguments.rank;
  const Schedule schedule = build_schedule(*algorithm, group, options);
  std::string text;
  if (arguments.format == "text") text = algorithms::to_text(schedule, arguments.rank);
  if (arguments.format == "json") text = algorithms::to_json(schedule);
  if (arguments.format == "dot") text = algorithms::to_dot(schedule);
  WEFT_TRY(write_output(arguments.output, text));
  return kFine;
}

}  // namespace

Command add_show(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* show = app.add_subcommand("show", "Shows the steps of a schedule, or exports it");
  show->add_option("ALGO", arguments->algorithm, "The algorithm, as in all_reduce/ring")->required();
  show->add_option("--ranks", arguments->ranks, "Number of ranks")->required();
  show->add_option("--rank", arguments->rank, "Only this rank's steps");
  show->add_option("--root", arguments->root, "Root of broadcast, reduce, gather and scatter")->capture_default_str();
  show->add_option("--channels", arguments->channels, "Channels in all; 0: the algorithm's own number");
  show->add_flag("--in-place", arguments->in_place, "Input and output are the same memory");
  show->add_option("--format", arguments->format, "text, json (which verify --from reads) or dot")
      ->check(CLI::IsMember({"text", "json", "dot"}))
      ->capture_default_str();
  show->add_option("--output", arguments->output, "Write to this file");
  return {show, [arguments] { return run(*arguments); }};
}

}  // namespace weft::schedule_tool
