// Runs --cluster: nodes from a folder or over a launcher, then one report.
#include "cluster.hpp"

#include <fmt/format.h>

#include "judgement.hpp"
#include "run_cluster.hpp"

namespace weft::topo_probe {
namespace {

using topology::cluster::ClusterNode;

constexpr int kTimeoutMs = 60'000;

Result<std::optional<std::vector<ClusterNode>>> nodes_of(const Arguments& arguments) {
  if (arguments.from) {
    WEFT_TRY_ASSIGN(std::vector<ClusterNode> nodes, nodes_of_folder(*arguments.from));
    return std::optional(std::move(nodes));
  }
  WEFT_TRY_ASSIGN(const Options options, Options::from_environment());
  return gather_nodes(options, options.timeout_ms == kDefaultTimeoutMs ? kTimeoutMs : options.timeout_ms,
                      arguments.measure);
}

Result<std::string> text_of(const Arguments& arguments, const topology::cluster::ClusterReport& report) {
  if (arguments.format == "text") return arguments.audit ? cluster_findings_text(report) : cluster_text(report);
  if (arguments.format == "json") return cluster_json(report);
  if (arguments.format == "prometheus") return cluster_prometheus(report);
  return Status(Code::InvalidArgument,
                fmt::format("--cluster is written as text, json or prometheus, not as {}", arguments.format));
}

}  // namespace

Result<std::optional<ClusterOutcome>> run_cluster(const Arguments& arguments) {
  WEFT_TRY_ASSIGN(const topology::audit::Site site, site_of(arguments));
  WEFT_TRY_ASSIGN(const std::optional<topology::Survey> reference, reference_of(arguments));
  WEFT_TRY_ASSIGN(std::optional<std::vector<ClusterNode>> nodes, nodes_of(arguments));
  if (!nodes) return std::optional<ClusterOutcome>();
  WEFT_TRY_ASSIGN(const topology::cluster::ClusterReport report,
                  topology::cluster::make_cluster_report(std::move(*nodes), site, reference ? &*reference : nullptr));
  ClusterOutcome outcome;
  WEFT_TRY_ASSIGN(outcome.text, text_of(arguments, report));
  for (const topology::cluster::SharedFinding& shared : report.findings)
    if (!outcome.worst || shared.finding.severity > *outcome.worst) outcome.worst = shared.finding.severity;
  return std::optional(std::move(outcome));
}

}  // namespace weft::topo_probe
