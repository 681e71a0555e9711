// The only file of topo-probe that includes CLI11, which takes long to compile.
#include "arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/command_line.hpp"
#include "weft/version.hpp"

namespace weft::topo_probe {
namespace {

constexpr const char* kFooter =
    "Without --matrix and --rings everything is shown, but the rings. With one of them only that is shown, with both "
    "the\n"
    "matrix, then the rings. --json always holds everything, and with --rings the rings too.\n"
    "Exit status: 0 whatever it finds, 1 if a finding is as severe as --fail-on, 2 for bad input or usage, or output "
    "that\n"
    "cannot be written.";

void describe(CLI::App& app, Arguments& arguments) {
  auto* model = app.add_option("--model", arguments.model, "a machine by name or line, instead of this one");
  auto* from =
      app.add_option("--from", arguments.from,
                     "a topology file: hwloc XML, NCCL or RCCL topology XML, the text of nvidia-smi topo -m or "
                     "rocm-smi --showtopo, or JSON that this program wrote");
  auto* root = app.add_option("--root", arguments.root, "a recorded tree that holds sys/ and proc/");
  model->excludes(from)->excludes(root);
  from->excludes(root);
  app.add_flag("--json", arguments.json, "JSON instead of text");
  app.add_flag("--matrix", arguments.matrix, "how GPUs and NICs reach each other");
  auto* rings = app.add_flag("--rings", arguments.rings, "the rings and trees that Weft would use");
  app.add_option("--ranks", arguments.ranks, "ranks for --rings; without it one for each GPU or core group")
      ->check(CLI::Range(1, 1 << 20))
      ->needs(rings);
  app.add_option("--output", arguments.output, "write there, whole or not at all");
  app.add_option("--fail-on", arguments.fail_on, "exit with 1 if a finding is at least this severe")
      ->check(CLI::IsMember({"info", "warning", "error"}));
  app.add_flag("--list-models", arguments.list_models, "names for --model");
  base::refuse_empty_values(app);
}

}  // namespace

Parsed parse(int argc, char** argv) {
  CLI::App app("Shows a machine's topology as Weft sees it: CPUs, NUMA nodes, PCIe, GPUs, NICs, paths and findings.",
               "topo-probe");
  Arguments arguments;
  app.footer(kFooter);
  app.set_version_flag("--version", fmt::format("topo-probe {}", version()));
  describe(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return {std::nullopt, fmt::format("{}\n", version.what()), false};
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help(), false};
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, fmt::format("{}; see topo-probe --help", error.what()), true};
  }
  return {std::move(arguments), "", false};
}

}  // namespace weft::topo_probe
