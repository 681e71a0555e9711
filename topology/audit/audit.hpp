// The audit: rules that look at a machine and say what is wrong with it, how that is known, and what to do. A rule is
// one file in audit/rules/ that defines the constant of its file's name; CMake puts all of them into the table.
//
// A rule needs evidence: where a source tells nothing, it says nothing. What it must not complain about stands in its
// `silent`, and a test holds each rule to both.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/audit/site.hpp"
#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology::audit {

enum class Severity : std::uint8_t { Info, Warning, Error };
std::string_view to_string(Severity severity);
std::optional<Severity> parse_severity(std::string_view word);

struct HostAnswers;

struct Finding {
  std::string_view id;  // of the rule: "pcie.link_downgraded"
  Severity severity = Severity::Info;
  std::string subject;   // the thing: "mlx5_0 (0000:c1:00.0)"
  std::string evidence;  // what was read, with its numbers
  std::string fix;       // what to do
  std::string_view reference;

  bool operator==(const Finding&) const = default;
};

// What rules look at.
struct Input {
  const Survey& survey;
  const Graph& graph;                 // the survey's
  Locality& locality;                 // of that graph
  std::vector<HostAnswers>& answers;  // by host
  const Site& site;
  const Survey* reference = nullptr;  // a machine to compare with
  const Survey* before = nullptr;     // the same machine, `seconds` ago
  double seconds = 0;

  int hosts() const { return locality.hosts(); }
  const HostFacts& facts(int host) const { return survey.facts(host); }
  // "this process", with "host3: " before it where there are several hosts.
  std::string on(int host, std::string_view thing) const;
};

// Collects findings; what the rule says once for all (id, severity, fix) is filled in where it is not given.
struct Rule;
class Report {
 public:
  void add(const Rule& rule, std::string subject, std::string evidence);
  void add(const Rule& rule, Severity severity, std::string subject, std::string evidence);
  void add(const Rule& rule, Severity severity, std::string subject, std::string evidence, std::string fix);
  std::vector<Finding> take() { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;
};

// What a rule looks at: one survey, or two of the same machine.
enum class Needs : std::uint8_t { Survey, Interval };

struct Rule {
  std::string_view id;
  Severity severity;           // the usual one
  std::string_view summary;    // one line: what it says
  std::string_view silent;     // one line: about what it says nothing
  std::string_view fix;        // the usual one
  std::string_view reference;  // a public report ("NVIDIA/nccl#304") or a specification
  void (*check)(const Rule& self, const Input& input, Report& report);
  Needs needs = Needs::Survey;
};

// Sorted by id.
std::span<const Rule* const> rules();
const Rule* find_rule(std::string_view id);

// The most severe findings first, then by rule and subject; what the site ignores is left out.
//
// All rules that look at one machine; `reference` is a machine to compare with.
std::vector<Finding> audit(const Survey& survey, const Site& site = {}, const Survey* reference = nullptr);
// Only what differs from the reference: expect.missing and expect.different.
std::vector<Finding> expect(const Survey& survey, const Survey& reference, const Site& site = {});
// Error counters, judged by how fast they rose between two surveys of one machine.
std::vector<Finding> audit_rates(const Survey& before, const Survey& after, double seconds, const Site& site = {});

// The most severe findings on one line of at most 240 characters, as a Slurm drain reason or a line of NHC wants it;
// empty if none is at least that severe.
std::string one_line(const std::vector<Finding>& findings, Severity least);

}  // namespace weft::topology::audit
