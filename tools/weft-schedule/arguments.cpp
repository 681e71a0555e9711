// The only file of weft-schedule that includes CLI11, which takes longer to compile than all the others together.
#include "tools/weft-schedule/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/command_line.hpp"
#include "weft/version.hpp"

namespace weft::schedule_tool {
namespace {

constexpr const char* kAlgorithm = "The algorithm, as in all_reduce/ring";
constexpr const char* kBytes = "Size of the message in bytes, as nccl-tests counts it: 8, 4k, 64M, 1G";
constexpr const char* kRoot = "Root of broadcast, reduce, gather and scatter";
constexpr const char* kOutput = "Write to this file, whole or not at all";

void add(CLI::App& app, MachineArguments& machine) {
  CLI::Option* model =
      app.add_option("--model", machine.model,
                     "A machine by name or line, as in dgx-h100 or \"hosts:2 gpu:8 nvswitch:450 nic:8 ndr\"");
  app.add_option("--topology", machine.topology, "A machine from a file: Weft's JSON or hwloc XML")->excludes(model);
  app.add_option("--ranks", machine.ranks, "Number of ranks, one per GPU where the machine has any")->required();
  app.add_option("--ranks-per-host", machine.ranks_per_host, "Ranks on each host in turn; 0 spreads them evenly");
  app.footer("Without --model and --topology the machine that this runs on is probed.");
}

void add(CLI::App& app, ListArguments& arguments) {
  app.add_option("--collective", arguments.collective, "Only those of this collective");
  app.add_flag("--json", arguments.json, "As JSON");
}

void add(CLI::App& app, ShowArguments& arguments) {
  app.add_option("ALGO", arguments.algorithm, kAlgorithm)->required();
  app.add_option("--ranks", arguments.ranks, "Number of ranks")->required();
  app.add_option("--rank", arguments.rank, "Only this rank's steps");
  app.add_option("--root", arguments.root, kRoot)->capture_default_str();
  app.add_option("--channels", arguments.channels, "Channels in all; 0: the algorithm's own number");
  app.add_flag("--in-place", arguments.in_place, "Input and output are the same memory");
  app.add_flag("--uneven,!--even", arguments.uneven,
               "For blocks of unequal lengths, and for long calls in several passes (export's default), or for blocks "
               "of equal lengths, in less scratch (show's)");
  app.add_flag("--invariant", arguments.invariant, "Reductions in the order of Numerics::Invariant");
  app.add_option("--format", arguments.format, "text, json (which verify reads and WEFT_SCHEDULES names) or dot")
      ->check(CLI::IsMember({"text", "json", "dot"}))
      ->capture_default_str();
  app.add_option("--output", arguments.output, kOutput);
}

void add(CLI::App& app, VerifyArguments& arguments) {
  CaseArguments& cases = arguments.cases;
  app.add_option("ALGO", cases.algorithm,
                 "The algorithm, as in all_reduce/ring; or FILE.json, a schedule as export writes it");
  app.add_flag("--all", arguments.all, "All algorithms");
  app.add_option("--from", arguments.from, "A schedule from a JSON file or a pipe, whatever its name ends in");
  app.add_option("--ranks", cases.ranks, "Numbers of ranks, as in 1-32,127,257")->capture_default_str();
  app.add_option("--roots", cases.roots, "all, or root ranks as in 0-3")->capture_default_str();
  app.add_option("--channels", cases.channels,
                 "Numbers of channels, as in 1,2,4; those an algorithm cannot have are skipped. Default: its own");
  app.add_option("--ranks-per-host", cases.ranks_per_host,
                 "Spread the ranks over hosts, so many on each, as in 1-4. Default: one host");
  app.add_option("--jobs", arguments.jobs, "Threads")->capture_default_str();
}

void add(CLI::App& app, SimulateArguments& arguments) {
  app.add_option("ALGO", arguments.algorithm, kAlgorithm)->required();
  add(app, arguments.machine);
  app.add_option("--bytes", arguments.bytes, kBytes)->required();
  app.add_option("--root", arguments.root, kRoot)->capture_default_str();
  app.add_option("--channels", arguments.channels, "Channels in all; 0: the algorithm's own number");
  app.add_option("--slice", arguments.slice, "Bytes that a fused step forwards at a time")->capture_default_str();
  app.add_option("--sharing", arguments.sharing, "How messages share a link: fair (max-min) or queue")
      ->check(CLI::IsMember({"fair", "queue"}))
      ->capture_default_str();
  app.add_option("--format", arguments.format, "text, json or chrome (for chrome://tracing and Perfetto)")
      ->check(CLI::IsMember({"text", "json", "chrome"}))
      ->capture_default_str();
  app.add_option("--output", arguments.output, kOutput);
}

void add(CLI::App& app, ExplainArguments& arguments) {
  app.add_option("COLLECTIVE", arguments.collective, "The collective, as in all_reduce")->required();
  add(app, arguments.machine);
  app.add_option("--bytes", arguments.bytes, kBytes)->required();
  app.add_option("--dtype", arguments.dtype, "Element type")->capture_default_str();
  app.add_option("--op", arguments.op, "Reduction operator")->capture_default_str();
  app.add_option("--root", arguments.root, kRoot)->capture_default_str();
  app.add_option("--channels", arguments.channels, "As WEFT_CHANNELS: channels of every call; 0: chosen");
  app.add_option("--algorithms", arguments.overrides,
                 "As WEFT_ALGORITHMS: \"all_reduce:0-4k:direct;all_reduce:4k-:ring@2\"");
  app.add_option("--table", arguments.table, "A measured table (JSON)");
  app.add_option("--schedule", arguments.schedules,
                 "A schedule from a JSON file that is a candidate, too, as file.NAME; may be given several times")
      ->allow_extra_args(false);
  app.add_flag("--json", arguments.json, "As JSON");
}

class CommandLine {
 public:
  CommandLine() {
    app_.set_version_flag("--version", fmt::format("weft-schedule {}", version()));
    app_.set_help_all_flag("--help-all", "Help of all subcommands");
    app_.require_subcommand(1);
    add_subcommand("list", "Lists the algorithms", list_);
    add_subcommand("show", "Shows the steps of a schedule, or exports it", show_);
    export_.format = "json";
    export_.uneven = true;
    add_subcommand("export", "Writes a schedule as a file, as show does, in JSON unless told otherwise", export_);
    add_subcommand("verify", "Proves schedules, in place and out of place", verify_);
    add_subcommand("simulate", "Simulates a schedule on a machine", simulate_);
    add_subcommand("explain", "Says which algorithm would run, what it would cost, and why", explain_);
  }

  Parsed parse(int argc, char** argv) {
    if (argc > 1 && argv[1][0] != '-' && !is_subcommand(argv[1]))
      return wrong(fmt::format("there is no subcommand \"{}\"", argv[1]));
    if (const std::optional<std::string> empty = base::find_empty_value(argc, argv)) return wrong(*empty);
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForVersion& version) {
      return {std::nullopt, fmt::format("{}\n", version.what()), false};
    } catch (const CLI::CallForAllHelp&) {
      return {std::nullopt, app_.help("", CLI::AppFormatMode::All), false};
    } catch (const CLI::CallForHelp&) {
      return {std::nullopt, app_.help(), false};
    } catch (const CLI::ParseError& error) {
      return wrong(error.what());
    }
    return {chosen(), "", false};
  }

 private:
  template <typename Of>
  void add_subcommand(const char* name, const char* what, Of& arguments) {
    CLI::App* subcommand = app_.add_subcommand(name, what);
    add(*subcommand, arguments);
    base::refuse_empty_values(*subcommand);
  }

  static Parsed wrong(std::string_view what) {
    return {std::nullopt, fmt::format("{}; see weft-schedule --help", what), true};
  }

  bool is_subcommand(std::string_view name) const {
    const auto has_name = [&](const CLI::App* subcommand) { return subcommand->get_name() == name; };
    return !app_.get_subcommands(has_name).empty();
  }

  Arguments chosen() const {
    const std::string name = app_.get_subcommands().front()->get_name();
    if (name == "list") return list_;
    if (name == "show") return show_;
    if (name == "export") return export_;
    if (name == "verify") return verify_;
    if (name == "simulate") return simulate_;
    return explain_;
  }

  CLI::App app_{
      "Lists, shows, proves, simulates and exports Weft's collective schedules, and explains which one would run.\n"
      "ALGO is COLLECTIVE/NAME, as in all_reduce/ring. Sizes are bytes; k, M, G and T behind them mean 1024 bytes, "
      "its\n"
      "square and so on: 8, 4k, 64M, 1G.\n"
      "Exit codes: 0 fine, 1 a proof failed, 2 usage, bad input, or output that cannot be written.",
      "weft-schedule"};
  ListArguments list_;
  ShowArguments show_;
  ShowArguments export_;
  VerifyArguments verify_;
  SimulateArguments simulate_;
  ExplainArguments explain_;
};

}  // namespace

Parsed parse(int argc, char** argv) { return CommandLine().parse(argc, argv); }

}  // namespace weft::schedule_tool
