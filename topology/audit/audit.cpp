// Runs the rules.
#include "topology/audit/audit.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace weft::topology::audit {
namespace {

constexpr std::array<std::string_view, 3> kWords = {"info", "warning", "error"};

}  // namespace

std::string_view to_string(Severity severity) { return kWords[static_cast<std::size_t>(severity)]; }

std::optional<Severity> parse_severity(std::string_view word) {
  for (std::size_t i = 0; i < kWords.size(); ++i)
    if (kWords[i] == word) return static_cast<Severity>(i);
  return std::nullopt;
}

void Report::add(const Rule& rule, std::string subject, std::string evidence) {
  findings_.push_back({rule.id, rule.severity, std::move(subject), std::move(evidence), std::string(rule.fix)});
}

std::vector<Finding> audit(const Survey& survey) {
  Report report;
  Locality locality(survey.graph);
  const Input input{survey, survey.graph, locality};
  for (const Rule* rule : rules()) rule->check(*rule, input, report);
  std::vector<Finding> findings = report.take();
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::make_tuple(b.severity, a.id) < std::make_tuple(a.severity, b.id);
  });
  return findings;
}

}  // namespace weft::topology::audit
