// Groups of like nodes, differences, and findings by node.
#include "topology/cluster/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "topology/append_hosts.hpp"
#include "topology/audit/left_out.hpp"
#include "topology/audit/shared_findings.hpp"
#include "topology/audit/site.hpp"
#include "topology/cluster/likeness.hpp"
#include "topology/diff/diff.hpp"
#include "topology/limits.hpp"
#include "topology/network.hpp"
#include "topology/sources.hpp"

namespace weft::topology::cluster {
namespace {

constexpr std::size_t kMaxChanges = 64;  // told of one group

// "node2" before "node10".
bool name_before(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  const auto digit = [](const std::string& text, std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  while (i < a.size() && j < b.size()) {
    if (!digit(a, i) || !digit(b, j)) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const std::size_t first_a = i;
    const std::size_t first_b = j;
    while (digit(a, i)) ++i;
    while (digit(b, j)) ++j;
    const auto bare = [](std::string_view digits) {
      digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
      return std::tuple(digits.size(), digits);
    };
    const auto left = bare(std::string_view(a).substr(first_a, i - first_a));
    const auto right = bare(std::string_view(b).substr(first_b, j - first_b));
    if (left != right) return left < right;
  }
  return std::tuple(a.size() - i, std::string_view(a)) < std::tuple(b.size() - j, std::string_view(b));
}

bool has_more_nodes(const Group& a, const Group& b) { return a.nodes.size() > b.nodes.size(); }

std::vector<Group> groups_of(const std::vector<ClusterNode>& nodes) {
  std::map<Likeness, std::size_t> position;
  std::vector<Group> groups;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].survey) continue;
    const auto [found, fresh] = position.try_emplace(likeness_of(*nodes[i].survey), groups.size());
    if (fresh) groups.emplace_back().fingerprint = fingerprint(nodes[i].survey->graph);
    groups[found->second].nodes.push_back(i);
  }
  std::stable_sort(groups.begin(), groups.end(), has_more_nodes);
  return groups;
}

// Groups without a difference to the first one belong to it after all (their devices stand in another order), and
// groups with the same differences to each other.
void tell_changes(const std::vector<ClusterNode>& nodes, std::vector<Group>& groups) {
  if (groups.size() < 2) return;
  const Survey& usual = *nodes[groups.front().nodes.front()].survey;
  std::vector<Group> kept;
  kept.push_back(std::move(groups.front()));
  for (std::size_t i = 1; i < groups.size(); ++i) {
    Group& group = groups[i];
    group.changes = diff_surveys(usual, *nodes[group.nodes.front()].survey, Relation::Alike).changes;
    const auto same =
        std::find_if(kept.begin(), kept.end(), [&](const Group& other) { return other.changes == group.changes; });
    if (same == kept.end())
      kept.push_back(std::move(group));
    else
      same->nodes.insert(same->nodes.end(), group.nodes.begin(), group.nodes.end());
  }
  for (Group& group : kept) std::sort(group.nodes.begin(), group.nodes.end());
  std::stable_sort(kept.begin() + 1, kept.end(), has_more_nodes);
  groups = std::move(kept);
}

// `position` gives the node of each host of the merged survey.
std::vector<SharedFinding> share(const std::vector<audit::Finding>& findings,
                                 const std::vector<std::size_t>& position) {
  std::vector<SharedFinding> shared;
  for (audit::SharedFinding& one : audit::share_findings(findings, static_cast<int>(position.size()))) {
    SharedFinding& of_nodes = shared.emplace_back();
    of_nodes.finding = std::move(one.finding);
    for (int host : one.hosts) of_nodes.nodes.push_back(position[static_cast<std::size_t>(host)]);
  }
  return shared;
}

// `nodes` are those of the group that are told, `usual` is the node that they differ from.
SharedFinding odd_nodes(const Group& group, const std::string& usual, std::vector<std::size_t> nodes, std::size_t all) {
  constexpr std::size_t kMostTold = 3;
  std::string evidence = fmt::format("unlike {}", usual);
  for (std::size_t i = 0; i < std::min(group.changes.size(), kMostTold); ++i)
    evidence +=
        fmt::format("{} {} {}", i == 0 ? ":" : ";", to_string(group.changes[i].kind), describe(group.changes[i]));
  if (group.changes.size() > kMostTold) evidence += fmt::format("; and {} more", group.changes.size() - kMostTold);
  SharedFinding odd;
  odd.finding.id = audit::kOddNode;
  odd.finding.severity = audit::Severity::Warning;
  odd.finding.subject = fmt::format("{} of {} nodes", nodes.size(), all);
  odd.finding.evidence = std::move(evidence);
  odd.finding.fix = "make these nodes like the others, or say that they are another partition";
  odd.nodes = std::move(nodes);
  return odd;
}

SharedFinding silent_node(const ClusterNode& node, std::size_t position) {
  SharedFinding silent;
  silent.finding.id = audit::kSilentNode;
  silent.finding.severity = audit::Severity::Error;
  silent.finding.subject = node.name;
  silent.finding.evidence = node.failure;
  silent.finding.fix = "look at this node: it told nothing";
  silent.nodes = {position};
  return silent;
}

SharedFinding left_out(const std::string& file) {
  SharedFinding left;
  left.finding.id = audit::kLeftOut;
  left.finding.severity = audit::Severity::Info;
  left.finding.subject = file;
  left.finding.evidence = "is no dump; left out";
  left.finding.fix = "keep the dumps of nodes in a folder of their own";
  return left;
}

// What only the whole cluster shows, but what the site ignores.
std::vector<SharedFinding> findings_of_cluster(const ClusterReport& report, const std::vector<std::string>& files,
                                               const audit::Site& site) {
  const auto ignored = [&](std::string_view id, std::size_t position) {
    return audit::is_ignored(site, id, report.nodes[position].name);
  };
  std::vector<SharedFinding> findings;
  for (std::size_t i : report.silent)
    if (!ignored(audit::kSilentNode, i)) findings.push_back(silent_node(report.nodes[i], i));
  for (std::size_t i = 1; i < report.groups.size(); ++i) {
    std::vector<std::size_t> nodes = report.groups[i].nodes;
    std::erase_if(nodes, [&](std::size_t position) { return ignored(audit::kOddNode, position); });
    if (!nodes.empty())
      findings.push_back(odd_nodes(report.groups[i], reference_name(report), std::move(nodes), report.nodes.size()));
  }
  for (const std::string& file : files)
    if (!audit::is_ignored(site, audit::kLeftOut, file)) findings.push_back(left_out(file));
  return findings;
}

// TCP from machine to machine of the merged graph, RDMA from NIC to NIC.
void add_streams(ClusterReport& report, const std::vector<std::size_t>& position) {
  const Graph& graph = report.merged.graph;
  std::map<std::pair<int, std::string_view>, int> end;  // by host, and NIC or ""
  std::map<std::string_view, int> host_of;
  for (const Node& node : graph.nodes)
    if (node.kind == NodeKind::Machine || node.kind == NodeKind::Nic)
      end[{node.host, node.kind == NodeKind::Nic ? std::string_view(node.name) : ""}] = node.id;
  for (std::size_t host = 0; host < position.size(); ++host)
    host_of[report.nodes[position[host]].name] = static_cast<int>(host);
  for (std::size_t host = 0; host < position.size(); ++host)
    for (const StreamRate& stream : report.nodes[position[host]].streams) {
      const auto there = host_of.find(stream.to);
      if (there == host_of.end()) continue;
      const auto from = end.find({static_cast<int>(host), stream.from_nic});
      const auto to = end.find({there->second, stream.to_nic});
      if (from != end.end() && to != end.end())
        report.merged.measurements.push_back(
            {from->second, to->second, stream.what, stream.at_once, stream.gbs, stream.latency_us});
    }
}

Result<std::vector<std::size_t>> merge_surveys(ClusterReport& report) {
  std::vector<std::size_t> position;
  std::size_t nodes = 0;
  for (std::size_t i = 0; i < report.nodes.size(); ++i) {
    if (!report.nodes[i].survey) continue;
    nodes += report.nodes[i].survey->graph.nodes.size();
    if (nodes > kMaxNodes || position.size() == static_cast<std::size_t>(kMaxHosts))
      return Status(Code::ResourceExhausted,
                    fmt::format("the cluster has more than {} hosts or {} nodes of graphs", kMaxHosts, kMaxNodes));
    position.push_back(i);
  }
  report.merged.graph.nodes.reserve(nodes);
  for (std::size_t i : position) append_hosts(report.merged, *report.nodes[i].survey);
  for (Node& node : report.merged.graph.nodes)
    if (node.kind == NodeKind::Machine) node.name = report.nodes[position[static_cast<std::size_t>(node.host)]].name;
  join_hosts(report.merged.graph);
  add_streams(report, position);
  report.merged.graph.name = fmt::format("cluster of {}", position.size());
  report.merged.source = "cluster";
  return position;
}

}  // namespace

const std::string& reference_name(const ClusterReport& report) {
  return report.nodes[report.groups.front().nodes.front()].name;
}

Result<ClusterReport> make_cluster_report(ClusterSource source, const audit::Site& site, const Survey* reference) {
  ClusterReport report;
  report.nodes = std::move(source.nodes);
  std::stable_sort(report.nodes.begin(), report.nodes.end(),
                   [](const ClusterNode& a, const ClusterNode& b) { return name_before(a.name, b.name); });
  for (std::size_t i = 0; i < report.nodes.size(); ++i) {
    ClusterNode& node = report.nodes[i];
    if (node.survey && node.survey->graph.hosts() != 1) {
      node.failure = fmt::format("it tells of {} hosts, not of one", node.survey->graph.hosts());
      node.survey.reset();
    }
    if (!node.survey) report.silent.push_back(i);
  }
  report.groups = groups_of(report.nodes);
  tell_changes(report.nodes, report.groups);
  report.findings = findings_of_cluster(report, source.left_out, site);
  for (Group& group : report.groups) group.changes.resize(std::min(group.changes.size(), kMaxChanges));
  if (report.groups.empty()) return report;
  WEFT_TRY_ASSIGN(const std::vector<std::size_t> position, merge_surveys(report));
  std::vector<SharedFinding> found = share(audit::audit(report.merged, site, reference), position);
  std::move(found.begin(), found.end(), std::back_inserter(report.findings));
  std::stable_sort(report.findings.begin(), report.findings.end(), [](const SharedFinding& a, const SharedFinding& b) {
    return a.finding.severity > b.finding.severity;
  });
  return report;
}

}  // namespace weft::topology::cluster
