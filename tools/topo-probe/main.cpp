// topo-probe: shows this machine, a recorded one or a model as Weft sees it, and what is wrong with it.
//
// Exit status: 0 whatever it finds, 1 if a finding is at least as severe as --fail-on or diff finds a difference, 2 for
// bad input or usage, or output that cannot be written (one line on standard error says what).
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "base/output.hpp"
#include "base/shortage.hpp"
#include "diff.hpp"
#include "formats.hpp"
#include "judgement.hpp"
#include "measuring.hpp"
#include "report.hpp"
#include "run_cluster.hpp"
#include "topology/fabric/fabric.hpp"
#include "topology/record/record.hpp"
#include "topology/sources.hpp"
#include "topology/survey.hpp"

namespace weft::topo_probe {
namespace {

constexpr int kFound = 1;

Result<topology::Survey> hosts_of(const Arguments& arguments) {
  if (arguments.from) return topology::load_survey(*arguments.from);
  if (!arguments.model) return topology::survey(topology::ProbeOptions{arguments.root.value_or("/")});
  topology::Survey survey;
  WEFT_TRY_ASSIGN(survey.graph, topology::model(*arguments.model));
  survey.source = topology::kModelSource;
  return survey;
}

Result<topology::Survey> survey_of(const Arguments& arguments) {
  if (!arguments.fabric) return hosts_of(arguments);
  if (!arguments.from && !arguments.model) return topology::load_fabric(*arguments.fabric);
  WEFT_TRY_ASSIGN(topology::Survey hosts, hosts_of(arguments));
  return topology::load_fabric(*arguments.fabric, std::move(hosts));
}

std::string models_text() {
  std::string text;
  for (std::string_view name : topology::model_names()) text.append(name).append("\n");
  return text;
}

std::optional<topology::audit::Severity> least_of(const Arguments& arguments) {
  return arguments.fail_on ? topology::audit::parse_severity(*arguments.fail_on) : std::nullopt;
}

bool reaches(const Report& report, const std::optional<topology::audit::Severity>& least) {
  return least && std::any_of(report.findings.begin(), report.findings.end(),
                              [&](const topology::audit::Finding& finding) { return finding.severity >= *least; });
}

Status write(const Arguments& arguments, std::string_view text) {
  return arguments.output ? base::write_file(*arguments.output, text) : base::write_stdout(text);
}

Result<int> cluster(const Arguments& arguments) {
  WEFT_TRY_ASSIGN(const std::optional<ClusterOutcome> outcome, run_cluster(arguments));
  if (!outcome) return base::kFine;
  WEFT_TRY(write(arguments, outcome->text));
  const std::optional<topology::audit::Severity> least = least_of(arguments);
  return least && outcome->worst >= least ? kFound : base::kFine;
}

Result<int> run(const Arguments& arguments) {
  if (arguments.list_models) {
    WEFT_TRY(write(arguments, models_text()));
    return base::kFine;
  }
  if (arguments.diff) {
    WEFT_TRY_ASSIGN(const DiffReport diff, diff_report(*arguments.diff));
    WEFT_TRY(write(arguments, diff.text));
    return diff.equal ? base::kFine : kFound;
  }
  if (arguments.record) {
    WEFT_TRY(
        topology::write_record(arguments.record->path, {arguments.root.value_or("/"), arguments.record->anonymise}));
    return base::kFine;
  }
  if (arguments.cluster) return cluster(arguments);
  WEFT_TRY_ASSIGN(topology::Survey surveyed, survey_of(arguments));
  WEFT_TRY(measure_if_asked(arguments, surveyed));
  const topology::Survey& survey = surveyed;
  const topology::Graph& graph = survey.graph;
  topology::Locality locality(graph);
  WEFT_TRY_ASSIGN(std::vector<topology::audit::Finding> findings, judge(arguments, survey));
  Report report{survey, graph, locality, std::move(findings), {}, {}, {}};
  const Format& format = format_named(arguments.format);
  report.matrices = make_matrices(graph, arguments.matrix ? kMaxMatrixDevices : format.most_devices);
  report.unknown = find_unknown(report);
  report.with_bindings = !arguments.bindings.empty();
  report.with_environment = arguments.environment;
  if (arguments.rings) {
    WEFT_TRY_ASSIGN(report.rings, make_rings(graph, arguments.ranks));
  }
  WEFT_TRY_ASSIGN(const std::string text, format.write(report, arguments));
  WEFT_TRY(write(arguments, text));
  return reaches(report, least_of(arguments)) ? kFound : base::kFine;
}

}  // namespace
}  // namespace weft::topo_probe

int main(int argc, char** argv) {
  using namespace weft::topo_probe;
  weft::base::end_well_without_memory("topo-probe", weft::base::kBadInput);  // parsing needs some, too
  ::setenv("HWLOC_HIDE_ERRORS", "2", 1);  // what is wrong with a machine stands in the report, not beside it
  return weft::base::run_program("topo-probe", parse(argc, argv), run);
}
