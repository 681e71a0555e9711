// Site: what the people who run a machine know and the audit does not: thresholds, what there should be, findings they
// have looked at and do not want to see again. Read from a JSON file, schema 1 (docs/audit.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.hpp"

namespace weft::topology::audit {

struct Thresholds {
  std::uint64_t shm_bytes = std::uint64_t{1} << 30;      // limits.shm_small below this
  std::uint64_t memlock_bytes = std::uint64_t{1} << 30;  // limits.memlock below this
  double remote_pages_percent = 10;                      // affinity.remote_pages from this on
  double measured_percent = 60;                          // perf.below_nominal under this part of the nominal rate
  double correctable_per_hour = 10;                      // pcie.errors_rising
  double port_errors_per_hour = 10;                      // net.errors_rising, roce.lossy

  bool operator==(const Thresholds&) const = default;
};

// A device that should show so many NVLinks, whatever the table of the audit says.
struct ExpectedLinks {
  std::string device;  // "10de:2330"
  int nvlinks = 0;

  bool operator==(const ExpectedLinks&) const = default;
};

// Of each host.
struct Expectations {
  std::optional<int> gpus;
  std::optional<int> nics;  // fabric NICs whose port is up
  std::optional<int> numa_nodes;
  std::optional<double> nic_gbs;  // of each port of a fabric NIC that is up
  std::vector<ExpectedLinks> nvlinks;

  bool operator==(const Expectations&) const = default;
};

struct Ignored {
  std::string id;
  std::string subject;  // empty: every one

  bool operator==(const Ignored&) const = default;
};

struct Site {
  Thresholds thresholds;
  Expectations expected;
  std::vector<Ignored> ignored;

  bool operator==(const Site&) const = default;
};

// Findings of a whole cluster (topology/cluster/), which no rule makes: their subjects are nodes.
inline constexpr std::string_view kOddNode = "cluster.odd_node";
inline constexpr std::string_view kSilentNode = "cluster.silent_node";

inline constexpr std::size_t kMaxSiteBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxIgnored = 4096;

// "ID" or "ID@SUBJECT". An id that no finding has is InvalidArgument, and ids that are near to it are named.
Result<Ignored> parse_ignored(std::string_view text);
// Whether findings of that id and subject are left out. A subject is named whole ("mlx5_0 (0000:c1:00.0)"), or by one
// of its words without brackets and commas: "mlx5_0", "0000:c1:00.0".
bool is_ignored(const Site& site, std::string_view id, std::string_view subject);

// What is wrong is one line that starts with `what` ("site.json") and names the place.
Result<Site> site_from_json(std::string_view what, std::string_view text);
Result<Site> load_site(const std::string& path);

}  // namespace weft::topology::audit
