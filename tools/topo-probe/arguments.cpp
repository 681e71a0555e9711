// The only file of topo-probe that includes CLI11, which takes long to compile.
#include "arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/command_line.hpp"
#include "effects.hpp"
#include "formats.hpp"
#include "weft/version.hpp"

namespace weft::topo_probe {
namespace {

constexpr const char* kFooter =
    "Without --bindings, --env, --measure, --matrix, --rings and --audit everything is shown, but bindings, "
    "environment\n"
    "and rings. With some of them only these are shown, in that order. They concern text; JSON and HTML always hold\n"
    "everything, JSON with --bindings and --env these, and both with --rings the rings too.\n"
    "Exit status: 0 whatever it finds, 1 if a finding is as severe as --fail-on or diff finds a difference, 2 for bad "
    "input or usage, or output "
    "that cannot be written.";

// Each group of options is one function, so that --help shows them together.

void describe_source(CLI::App& app, Arguments& arguments) {
  app.option_defaults()->group("Source");
  auto* model = app.add_option("--model", arguments.model, "a machine by name or line, instead of this one");
  auto* from =
      app.add_option("--from", arguments.from,
                     "a topology file: hwloc XML, NCCL or RCCL topology XML, the text of nvidia-smi topo -m or "
                     "rocm-smi --showtopo, JSON that this program wrote, or a recorded tree, as folder or archive");
  auto* root = app.add_option("--root", arguments.root, "a recorded tree that holds sys/ and proc/");
  model->excludes(from)->excludes(root);
  from->excludes(root);
  app.add_flag(
         "--cluster", arguments.cluster,
         "all hosts of the job that a launcher started (mpirun, srun, torchrun), or with --from a folder that holds "
         "a dump of each node; one report")
      ->excludes(model)
      ->excludes(root);
  app.add_option(
      "--fabric", arguments.fabric,
      "a fabric file or the listing of ibnetdiscover: the network that joins the hosts of --from or --model, "
      "or its own");
  app.add_flag("--list-models", arguments.list_models, "names for --model");
}

void describe_output(CLI::App& app, Arguments& arguments) {
  app.option_defaults()->group("Output");
  std::vector<std::string> names;
  for (const Format& format : formats()) names.emplace_back(format.name);
  auto* format = app.add_option("--format", arguments.format, "the form of the report")->check(CLI::IsMember(names));
  app.add_flag_callback(
         "--json", [&arguments] { arguments.format = "json"; }, "short for --format json")
      ->excludes(format);
  app.add_option("--nccl-version", arguments.nccl_version,
                 "of NCCL topology XML: 1 for NCCL, 2 for RCCL; without it as in the NCCL file that was read, else 1")
      ->check(CLI::Range(1, 2));
  app.add_option("--output", arguments.output, "write there, whole or not at all");
  app.add_flag("--matrix", arguments.matrix, "how GPUs and NICs reach each other");
  auto* rings = app.add_flag("--rings", arguments.rings, "the rings and trees that Weft would use");
  app.add_option("--ranks", arguments.ranks, "ranks for --rings; without it one for each GPU or core group")
      ->check(CLI::Range(1, 1 << 20))
      ->needs(rings);
}

void describe_audit(CLI::App& app, Arguments& arguments) {
  app.option_defaults()->group("Audit");
  app.add_flag("--audit", arguments.audit, "the findings alone");
  app.add_option("--fail-on", arguments.fail_on, "exit with 1 if a finding is at least this severe")
      ->check(CLI::IsMember({"info", "warning", "error"}));
  app.add_option("--site", arguments.site, "a file of what the site knows: thresholds, expectations, ignored findings");
  app.add_option("--ignore", arguments.ignored, "a finding that is known: ID, or ID@SUBJECT; may be given again")
      ->allow_extra_args(false);
  app.add_option("--expect", arguments.expect, "a model or a dump that the machine should be like");
  app.add_option("--interval", arguments.interval_s,
                 "seconds between two looks at this machine: error counters that rise meanwhile are findings")
      ->check(CLI::Range(0.1, 3600.0))
      ->check(
          [](const std::string& value) {
            return std::isnan(std::strtod(value.c_str(), nullptr)) ? "is no number" : "";
          },
          "")
      ->excludes(app.get_option("--model"))
      ->excludes(app.get_option("--from"))
      ->excludes(app.get_option("--root"))
      ->excludes(app.get_option("--cluster"));
}

void describe_advice(CLI::App& app, Arguments& arguments) {
  app.option_defaults()->group("Advice");
  app.add_flag("--bindings{text}", arguments.bindings,
               "cores, memory node and NICs for each rank; =json, =numactl, =mpirun (a rankfile), =torchrun")
      ->check(CLI::IsMember({"text", "json", "numactl", "mpirun", "torchrun"}));
  app.add_flag("--env", arguments.environment, "variables for NCCL, UCX and launchers, each with its reason");
  auto* measure = app.add_flag(
      "--measure", arguments.measure,
      "measure copies between caches, memory bandwidth (10 s) and GPU copies (30 s); with --cluster TCP and "
      "RDMA between hosts, too");
  app.add_option("--write-corrected", arguments.write_corrected,
                 "write the topology with the measured rates there, for --from and WEFT_TOPOLOGY")
      ->needs(measure);
  for (const char* other : {"--model", "--from", "--root", "--fabric"}) measure->excludes(app.get_option(other));
}

void describe_diff(CLI::App& app, Arguments& arguments) {
  app.option_defaults()->group("Options");
  CLI::App* diff = app.add_subcommand("diff", "what was lost, added or changed between two dumps of a machine");
  const auto value = [&arguments]() -> DiffArguments& {
    if (!arguments.diff) arguments.diff.emplace();
    return *arguments.diff;
  };
  diff->add_option_function<std::string>(
          "BEFORE", [value](const std::string& path) { value().before = path; }, "what --from takes")
      ->required();
  diff->add_option_function<std::string>(
          "AFTER", [value](const std::string& path) { value().after = path; }, "likewise")
      ->required();
  diff->add_flag_callback(
      "--json", [value] { value().json = true; }, "JSON instead of text");
  diff->add_option("--output", arguments.output, "write there, whole or not at all");
  diff->footer("Exit status: 0 without a difference, 1 with one, 2 for bad input or usage.");
  base::refuse_empty_values(*diff);
}

void describe_record(CLI::App& app, Arguments& arguments) {
  CLI::App* record = app.add_subcommand("record", "writes what topo-probe reads of this machine, to be read elsewhere");
  const auto value = [&arguments]() -> RecordArguments& {
    if (!arguments.record) arguments.record.emplace();
    return *arguments.record;
  };
  record
      ->add_option_function<std::string>(
          "OUT", [value](const std::string& path) { value().path = path; },
          "the archive to write: .tar.bz2, .tar.gz, .tar.xz or .tar")
      ->required();
  record->add_flag_callback(
      "--anonymise", [value] { value().anonymise = true; },
      "replace names, addresses, GUIDs, UUIDs and serial numbers, equal ones by equal ones");
  record->add_option("--root", arguments.root, "record this tree instead");
  record->footer("Give the archive to topo-probe --from. What may not be read is not in it; root sees more.");
  base::refuse_empty_values(*record);
}

// What effects.cpp knows nothing of: pairs that contradict each other.
void describe_exclusions(CLI::App& app) {
  CLI::Option* fabric = app.get_option("--fabric");
  for (const char* other : {"--root", "--interval", "--cluster"}) fabric->excludes(app.get_option(other));
}

void describe(CLI::App& app, Arguments& arguments) {
  describe_source(app, arguments);
  describe_output(app, arguments);
  describe_audit(app, arguments);
  describe_advice(app, arguments);
  describe_exclusions(app);
  describe_diff(app, arguments);
  describe_record(app, arguments);
  base::refuse_empty_values(app);
}

// The options before a subcommand, or all where there is none.
std::vector<std::string> given_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0) names.push_back(option->get_name());
  return names;
}

// What was said about the whole program holds for a subcommand, unless it was said again.
std::optional<std::string> find_mistake(const CLI::App& app, Arguments& arguments) {
  const std::vector<std::string> given = given_options(app);
  if (std::optional<std::string> useless = find_option_without_effect(arguments, given)) return useless;
  for (const CLI::App* subcommand : app.get_subcommands())
    for (const std::string& name : given)
      if (const CLI::Option* again = subcommand->get_option_no_throw(name); again != nullptr && again->count() > 0)
        return fmt::format("{} is given both before and behind {}", name, subcommand->get_name());
  if (arguments.diff && arguments.format == "json") arguments.diff->json = true;
  return std::nullopt;
}

}  // namespace

Parsed parse(int argc, char** argv) {
  CLI::App app("Shows a machine's topology as Weft sees it: CPUs, NUMA nodes, PCIe, GPUs, NICs, paths and findings.",
               "topo-probe");
  Arguments arguments;
  app.footer(kFooter);
  app.set_version_flag("--version", fmt::format("topo-probe {}", version()));
  describe(app, arguments);
  const auto mistake = [](std::string_view what) -> Parsed {
    return {std::nullopt, fmt::format("{}; see topo-probe --help", what), true};
  };
  if (const std::optional<std::string> empty = base::find_empty_value(argc, argv)) return mistake(*empty);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return {std::nullopt, fmt::format("{}\n", version.what()), false};
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help(), false};
  } catch (const CLI::ParseError& error) {
    return mistake(error.what());
  }
  if (const std::optional<std::string> wrong = find_mistake(app, arguments)) return mistake(*wrong);
  return {std::move(arguments), "", false};
}

}  // namespace weft::topo_probe
