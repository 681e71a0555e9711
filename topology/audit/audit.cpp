// Runs the rules.
#include "topology/audit/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/plural.hpp"
#include "topology/audit/host_answers.hpp"

namespace weft::topology::audit {
namespace {

constexpr std::array<std::string_view, 3> kWords = {"info", "warning", "error"};

struct Compared {
  const Survey* reference = nullptr;
  const Survey* before = nullptr;
  double seconds = 0;
};

template <typename Wanted>
std::vector<Finding> run(const Survey& survey, const Site& site, const Compared& with, Wanted wanted) {
  Locality locality(survey.graph);
  std::vector<HostAnswers> answers(static_cast<std::size_t>(locality.hosts()));
  const Input input{survey, survey.graph, locality, answers, site, with.reference, with.before, with.seconds};
  Report report;
  for (const Rule* rule : rules())
    if (wanted(*rule)) rule->check(*rule, input, report);
  std::vector<Finding> findings = report.take();
  std::erase_if(findings, [&](const Finding& one) { return is_ignored(input.site, one.id, one.subject); });
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(b.severity, a.id) < std::tie(a.severity, b.id);
  });
  return findings;
}

}  // namespace

std::string_view to_string(Severity severity) { return kWords[static_cast<std::size_t>(severity)]; }

std::optional<Severity> parse_severity(std::string_view word) {
  for (std::size_t i = 0; i < kWords.size(); ++i)
    if (kWords[i] == word) return static_cast<Severity>(i);
  return std::nullopt;
}

std::string Input::on(int host, std::string_view thing) const {
  return hosts() > 1 ? fmt::format("host{}: {}", host, thing) : std::string(thing);
}

void Report::add(const Rule& rule, std::string subject, std::string evidence) {
  add(rule, rule.severity, std::move(subject), std::move(evidence));
}

void Report::add(const Rule& rule, Severity severity, std::string subject, std::string evidence) {
  add(rule, severity, std::move(subject), std::move(evidence), std::string(rule.fix));
}

void Report::add(const Rule& rule, Severity severity, std::string subject, std::string evidence, std::string fix) {
  findings_.push_back({rule.id, severity, std::move(subject), std::move(evidence), std::move(fix), rule.reference});
}

const Rule* find_rule(std::string_view id) {
  const auto all = rules();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Rule* rule) { return rule->id == id; });
  return found == all.end() ? nullptr : *found;
}

std::vector<Finding> audit(const Survey& survey, const Site& site, const Survey* reference) {
  return run(survey, site, {.reference = reference}, [](const Rule& rule) { return rule.needs == Needs::Survey; });
}

std::vector<Finding> expect(const Survey& survey, const Survey& reference, const Site& site) {
  return run(survey, site, {.reference = &reference}, [](const Rule& rule) { return rule.id.starts_with("expect."); });
}

std::vector<Finding> audit_rates(const Survey& before, const Survey& after, double seconds, const Site& site) {
  return run(after, site, {.before = &before, .seconds = seconds},
             [](const Rule& rule) { return rule.needs == Needs::Interval; });
}

std::string one_line(const std::vector<Finding>& findings, Severity least) {
  constexpr std::size_t kMost = 240;
  std::string line;
  std::size_t told = 0;
  std::size_t all = 0;
  for (const Finding& finding : findings) {
    if (finding.severity < least) continue;
    ++all;
    const std::string words =
        fmt::format("{}{} {} {}", line.empty() ? "" : "; ", to_string(finding.severity), finding.id, finding.subject);
    constexpr std::size_t kRoomForMore = 16;
    if (told + 1 == all && line.size() + words.size() + kRoomForMore <= kMost) line += words, ++told;
  }
  if (all > told) line += told == 0 ? base::plural(all, "finding") : fmt::format("; {} more", all - told);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line;
}

}  // namespace weft::topology::audit
