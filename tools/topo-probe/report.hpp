// What topo-probe found, before it is written as text or JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/shared_findings.hpp"
#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topo_probe {

// How devices reach each other: rows and columns are positions in `rows` and `columns`.
struct Matrix {
  std::vector<int> rows;  // node ids
  std::vector<int> columns;
  std::vector<std::vector<std::string>> classes;  // as nvidia-smi names them: X, NV18, PIX, ...
  std::vector<std::vector<double>> bandwidth_gbs;
  std::vector<std::vector<double>> latency_us;
  std::vector<std::vector<int>> binding_link;  // the narrowest one, in the graph's links; -1: none
};

inline constexpr std::string_view kUnknownClass = "?";

// GPUs and NICs: a matrix grows with their square. Unless it is asked for, it is written for few.
inline constexpr std::size_t kMaxMatrixDevices = 1024;
inline constexpr std::size_t kMaxMatrixUnasked = 256;
inline constexpr std::size_t kMaxMatrixRead = 64;  // by people

struct Matrices {
  Matrix gpu_gpu;
  Matrix gpu_gpu_pcie;  // as if there were no NVLink, XGMI or C2C
  Matrix gpu_nic;
  Matrix nic_nic;
};

// Where ranks would run, and the orders over them.
struct Rings {
  std::vector<int> placement;  // by rank
  Group group;
};

// What the source does not tell, or may not be read.
struct Unknown {
  std::string what;     // "acs"
  std::string subject;  // "switch-0000:c0:00.0 (0000:c0:00.0)"
  std::string why;      // "needs root"
};

struct Report {
  const topology::Survey& survey;
  const topology::Graph& graph;  // the survey's
  topology::Locality& locality;
  std::vector<topology::audit::Finding> findings;
  std::optional<Matrices> matrices;  // nothing where there are too many devices, or the format has none
  std::optional<Rings> rings;        // only if asked for
  std::vector<Unknown> unknown;
  bool with_bindings = false;  // in JSON, too
  bool with_environment = false;
};

// Whether nobody told the rate of what binds a pair; whether that is so of any pair that has a rate.
bool is_assumed(const Report& report, const Matrix& matrix, std::size_t row, std::size_t column);
bool has_assumed(const Report& report, const Matrix& matrix);
// Nothing if there are more than `most` GPUs and NICs.
std::optional<Matrices> make_matrices(const topology::Graph& graph, std::size_t most);
// `ranks` 0: one for each GPU, or for each core group where there are no GPUs.
Result<Rings> make_rings(const topology::Graph& graph, int ranks);

// Hosts with equal trees, and that tree as text without the host's own name.
struct HostGroup {
  std::vector<int> machines;  // at least one
  std::string tree;
};
std::vector<HostGroup> group_hosts(const Report& report);

// What is known of a host besides its graph: "kernel", "6.1.0-13-amd64, governor performance".
struct HostLine {
  std::string name;
  std::string words;
};
std::vector<HostLine> host_lines(const topology::HostFacts& facts);

// The report may lack its `unknown` then.
std::vector<Unknown> find_unknown(const Report& report);

std::string report_text(Report& report);
std::string matrix_text(const Report& report);
std::string rings_text(Report& report);
std::string findings_text(const Report& report);
// " on all 64 hosts", " on host[0-3]"; nothing where there is one host, or it is of all together.
std::string hosts_of_finding(const Report& report, const topology::audit::SharedFinding& shared);
// Each measurement beside the nominal rate of its path; empty if there are none.
std::string measured_text(Report& report);
void write_measured(base::JsonWriter& json, Report& report);
std::string report_json(Report& report);
std::string report_html(Report& report);
std::string report_prometheus(const Report& report);

}  // namespace weft::topo_probe
