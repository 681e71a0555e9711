// Cluster: many nodes in one report: which are alike, which is odd and how, what is wrong with which.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/diff/change.hpp"
#include "topology/sources.hpp"
#include "topology/survey.hpp"

namespace weft::topology::cluster {

// A stream of bytes to another node, measured.
struct StreamRate {
  std::string to;        // name of the other node
  bool at_once = false;  // while all others of its kind ran
  double gbs = 0;
  std::string what = kTcp;
  std::string from_nic;  // of RDMA: names in the graphs of the two nodes
  std::string to_nic;
  std::optional<double> latency_us;
};

// One node: what was found there, or why there is nothing.
struct ClusterNode {
  std::string name;
  std::optional<Survey> survey;
  std::vector<StreamRate> streams;
  std::string failure;  // without a survey: "rank 3 died", "cannot be read: ..."
};

// Nodes that are alike. The first group is the largest; the others say how they differ from its first node, as
// topology/diff tells it of machines that should be alike.
struct Group {
  std::vector<std::size_t> nodes;  // positions
  std::vector<Change> changes;
  std::string fingerprint;  // of the graph
};

// One finding, and the nodes it was found on.
struct SharedFinding {
  audit::Finding finding;          // its subject without the host
  std::vector<std::size_t> nodes;  // positions; empty: of the cluster
};

struct ClusterReport {
  std::vector<ClusterNode> nodes;
  std::vector<Group> groups;
  std::vector<std::size_t> silent;  // nodes without a survey
  std::vector<SharedFinding> findings;
  Survey merged;  // the hosts in order, without those that are silent, joined to one network
};

// Where the nodes come from a folder: they, and what there is no dump of a node.
struct ClusterSource {
  std::vector<ClusterNode> nodes;
  std::vector<std::string> left_out;
};

// Nodes are sorted by name first, numbers in names by value. `site` and `reference` are those of audit::audit().
Result<ClusterReport> make_cluster_report(ClusterSource source, const audit::Site& site = {},
                                          const Survey* reference = nullptr);
inline Result<ClusterReport> make_cluster_report(std::vector<ClusterNode> nodes, const audit::Site& site = {},
                                                 const Survey* reference = nullptr) {
  return make_cluster_report(ClusterSource{std::move(nodes), {}}, site, reference);
}

// The node that odd ones are compared with; there is a group.
const std::string& reference_name(const ClusterReport& report);

// "node[001-003,007]" and the like, for people.
std::string name_list(const std::vector<ClusterNode>& nodes, const std::vector<std::size_t>& positions);

std::string cluster_text(const ClusterReport& report);
std::string cluster_findings_text(const ClusterReport& report);  // the findings alone
std::string cluster_json(const ClusterReport& report);
std::string cluster_prometheus(const ClusterReport& report);

}  // namespace weft::topology::cluster
