// Survey: all that one source tells of a machine or a cluster. The graph is what schedules are made on; the rest is for
// reports and for the audit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "topology/facts/facts.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

// What a reader noticed. Each kind is a rule of the audit ("source.incomplete"), which adds severity and fix.
enum class RemarkKind : std::uint8_t {
  Incomplete,     // a text was cut, a table has no more rows
  Contradiction,  // two places of the source do not agree
  Unreadable,     // something is there, but may not or cannot be read
  GaveUp,         // a vendor's library did not answer in time
  Unmeasured,     // there was no time for a measurement, or it failed
};
std::string_view to_string(RemarkKind kind);
std::optional<RemarkKind> parse_remark_kind(std::string_view word);

struct Remark {
  RemarkKind kind = RemarkKind::Incomplete;
  std::string subject;   // "nvidia-smi.txt:7", "gpu3"
  std::string evidence;  // what was found, with its numbers

  bool operator==(const Remark&) const = default;
};

// A copy between two nodes of the graph, measured.
struct Measurement {
  int from = 0;  // node ids
  int to = 0;
  std::string what;      // as topology/sources.hpp names it
  bool at_once = false;  // while all other pairs of its kind ran, too
  double bandwidth_gbs = 0;
  std::optional<double> latency_us;

  bool operator==(const Measurement&) const = default;
};

struct Survey {
  Graph graph;
  std::string source;            // "this machine", "hwloc XML", "nvidia-smi topo -m" ...
  std::vector<HostFacts> hosts;  // by host; empty where the source tells only a graph
  std::vector<Remark> remarks;
  std::vector<Measurement> measurements;
  std::optional<int> nccl_version;  // of the NCCL topology XML it was read from

  bool operator==(const Survey&) const = default;

  // Of that host; empty facts where nothing is known.
  const HostFacts& facts(int host) const;
};

// As probe(), with facts. Vendor libraries are asked, in a process of their own, with a deadline.
Result<Survey> survey(const ProbeOptions& options = {});
// As load(): what the file says beyond the graph is kept.
Result<Survey> load_survey(std::string_view path);

// The members "source", "facts", "remarks", "measurements", "nccl_version" and "graph" of an object: what topo-probe's
// JSON holds. Such JSON, or a graph's alone, read back; members that reports derive from these (matrices, findings) are
// skipped.
void write_survey(base::JsonWriter& json, const Survey& survey);
Result<Survey> survey_from_json(std::string_view json);

}  // namespace weft::topology
