// Runs --cluster: nodes from a folder or over a launcher, then one report.
#include "cluster.hpp"

#include "base/assert.hpp"
#include "base/output.hpp"
#include "judgement.hpp"
#include "measuring.hpp"
#include "run_cluster.hpp"

namespace weft::topo_probe {
namespace {

using topology::cluster::ClusterNode;
using topology::cluster::ClusterSource;

constexpr int kTimeoutMs = 60'000;

Result<std::optional<ClusterSource>> nodes_of(const Arguments& arguments) {
  if (arguments.from) {
    WEFT_TRY_ASSIGN(ClusterSource source, nodes_of_folder(*arguments.from));
    return std::optional(std::move(source));
  }
  WEFT_TRY_ASSIGN(const Options options, Options::from_environment());
  // Other ranks write nothing, and their hosts may not have the folder.
  if (arguments.write_corrected && options.rank == 0) WEFT_TRY(base::check_writable(*arguments.write_corrected));
  const int timeout_ms = options.timeout_ms == kDefaultTimeoutMs ? kTimeoutMs : options.timeout_ms;
  WEFT_TRY_ASSIGN(std::optional<std::vector<ClusterNode>> nodes, gather_nodes(options, timeout_ms, arguments.measure));
  if (!nodes) return std::optional<ClusterSource>();
  return std::optional(ClusterSource{std::move(*nodes), {}});
}

std::string text_of(const Arguments& arguments, const topology::cluster::ClusterReport& report) {
  if (arguments.format == "json") return cluster_json(report);
  if (arguments.format == "prometheus") return cluster_prometheus(report);
  WEFT_ASSERT(arguments.format == "text");  // effects.cpp refuses others
  return arguments.audit ? cluster_findings_text(report) : cluster_text(report);
}

}  // namespace

Result<std::optional<ClusterOutcome>> run_cluster(const Arguments& arguments) {
  WEFT_TRY_ASSIGN(const topology::audit::Site site, site_of(arguments));
  WEFT_TRY_ASSIGN(const std::optional<topology::Survey> reference, reference_of(arguments));
  WEFT_TRY_ASSIGN(std::optional<ClusterSource> source, nodes_of(arguments));
  if (!source) return std::optional<ClusterOutcome>();
  WEFT_TRY_ASSIGN(const topology::cluster::ClusterReport report,
                  topology::cluster::make_cluster_report(std::move(*source), site, reference ? &*reference : nullptr));
  if (arguments.write_corrected && !report.groups.empty())
    WEFT_TRY(base::write_file(*arguments.write_corrected, corrected_json(report.merged)));
  ClusterOutcome outcome;
  outcome.text = text_of(arguments, report);
  for (const topology::cluster::SharedFinding& shared : report.findings)
    if (!outcome.worst || shared.finding.severity > *outcome.worst) outcome.worst = shared.finding.severity;
  return std::optional(std::move(outcome));
}

}  // namespace weft::topo_probe
