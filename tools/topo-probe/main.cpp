// topo-probe: shows this machine, a recorded one or a model as Weft sees it, and what is wrong with it.
//
// Exit status: 0 whatever it finds, 1 if a finding is at least as severe as --fail-on, 2 for bad input or usage (one
// line on standard error says what).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>

#include "output.hpp"
#include "report.hpp"
#include "weft/graph.hpp"
#include "weft/version.hpp"

namespace weft::topo_probe {
namespace {

constexpr int kFound = 1;
constexpr int kBadInput = 2;

struct Arguments {
  std::string model;
  std::string from;
  std::string root = "/";
  std::string output;
  std::string fail_on;
  int ranks = 0;
  bool json = false;
  bool matrix = false;
  bool rings = false;
  bool list_models = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", fmt::format("topo-probe {}", weft::version()));
  auto* model = app.add_option("--model", arguments.model, "a machine by name or line, instead of this one");
  auto* from = app.add_option("--from", arguments.from, "a topology file: hwloc XML, or JSON that this program wrote");
  auto* root = app.add_option("--root", arguments.root, "a recorded tree that holds sys/ and proc/");
  model->excludes(from)->excludes(root);
  from->excludes(root);
  app.add_flag("--json", arguments.json, "JSON instead of text");
  app.add_flag("--matrix", arguments.matrix, "only how GPUs and NICs reach each other");
  app.add_flag("--rings", arguments.rings, "the rings and trees that Weft would use");
  app.add_option("--ranks", arguments.ranks, "ranks for --rings; without it one for each GPU or core group")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--output", arguments.output, "write there, whole or not at all");
  app.add_option("--fail-on", arguments.fail_on, "exit with 1 if a finding is at least this severe")
      ->check(CLI::IsMember({"info", "warning", "error"}));
  app.add_flag("--list-models", arguments.list_models, "names for --model");
}

Result<topology::Graph> graph_of(const Arguments& arguments) {
  if (!arguments.model.empty()) return topology::model(arguments.model);
  if (!arguments.from.empty()) return topology::load(arguments.from);
  return topology::probe(topology::ProbeOptions{arguments.root});
}

std::string models_text() {
  std::string text;
  for (std::string_view name : topology::model_names()) text += fmt::format("{}\n", name);
  return text;
}

std::string text_of(const Arguments& arguments, Report& report) {
  if (arguments.json) return report_json(report);
  if (!arguments.matrix && !arguments.rings) return report_text(report);
  std::string text;
  if (arguments.matrix) text += matrix_text(report);
  if (arguments.rings) text += rings_text(report);
  return text;
}

bool reaches(const Report& report, const std::string& fail_on) {
  const std::optional<topology::audit::Severity> least = topology::audit::parse_severity(fail_on);
  return least && std::any_of(report.findings.begin(), report.findings.end(),
                              [&](const topology::audit::Finding& finding) { return finding.severity >= *least; });
}

Result<int> run(const Arguments& arguments) {
  const auto write = [&](const std::string& text) {
    return arguments.output.empty() ? write_stdout(text) : write_file(arguments.output, text);
  };
  if (arguments.list_models) {
    WEFT_TRY(write(models_text()));
    return 0;
  }
  WEFT_TRY_ASSIGN(const topology::Graph graph, graph_of(arguments));
  const bool live = arguments.model.empty() && arguments.from.empty() && arguments.root == "/";
  const topology::audit::System system = live ? topology::audit::read_system() : topology::audit::System();
  topology::Locality locality(graph);
  Report report{graph, locality, topology::audit::audit(graph, system), make_matrices(graph), {}};
  if (arguments.rings) {
    WEFT_TRY_ASSIGN(report.rings, make_rings(graph, arguments.ranks));
  }
  WEFT_TRY(write(text_of(arguments, report)));
  return reaches(report, arguments.fail_on) ? kFound : 0;
}

int complain(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "topo-probe: {}\n", message);
  return kBadInput;
}

}  // namespace
}  // namespace weft::topo_probe

int main(int argc, char** argv) {
  using namespace weft::topo_probe;
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of the write
  CLI::App app("Shows a machine's topology as Weft sees it: CPUs, NUMA nodes, PCIe, GPUs, NICs, paths and findings.");
  Arguments arguments;
  describe(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return complain(error.what());
  }
  const weft::Result<int> status = run(arguments);
  return status ? *status : complain(std::string(status.error().message()));
}
