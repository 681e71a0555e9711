// The audit: rules that look at a machine and say what is wrong with it, how that is known, and what to do. A rule is
// one file in audit/rules/ that defines the constant of its file's name; CMake puts all of them into the table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology::audit {

enum class Severity : std::uint8_t { Info, Warning, Error };
std::string_view to_string(Severity severity);
std::optional<Severity> parse_severity(std::string_view word);

struct Finding {
  std::string_view id;  // of the rule: "pcie-link-downgraded"
  Severity severity = Severity::Info;
  std::string subject;   // the thing: "mlx5_0 (0000:c1:00.0)"
  std::string evidence;  // what was read, with its numbers
  std::string fix;       // what to do

  bool operator==(const Finding&) const = default;
};

struct Input {
  const Survey& survey;
  const Graph& graph;  // the survey's
  Locality& locality;  // of that graph

  int hosts() const { return locality.hosts(); }
  const HostFacts& facts(int host) const { return survey.facts(host); }
};

// Collects findings; what the rule says once for all (id, severity, fix) is filled in.
struct Rule;
class Report {
 public:
  void add(const Rule& rule, std::string subject, std::string evidence);
  std::vector<Finding> take() { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;
};

struct Rule {
  std::string_view id;
  Severity severity;
  std::string_view summary;  // one line for listings
  std::string_view fix;
  void (*check)(const Rule& self, const Input& input, Report& report);
};

// Sorted by id.
std::span<const Rule* const> rules();

// All rules over the machine, the most severe findings first, then by rule and subject.
std::vector<Finding> audit(const Survey& survey);

}  // namespace weft::topology::audit
