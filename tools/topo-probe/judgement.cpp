// What the audit says, judged as the command line wants it.
#include "judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include "topology/sources.hpp"
#include "topology/survey.hpp"

namespace weft::topo_probe {
namespace {

using topology::Survey;
using topology::audit::Finding;
using topology::audit::Site;

// Counters that rose while this machine was looked at twice.
Status look_again(const Arguments& arguments, const Survey& before, const Site& site, std::vector<Finding>& findings) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(arguments.interval_s));
  WEFT_TRY_ASSIGN(const Survey after, topology::survey());
  const std::chrono::duration<double> passed = Clock::now() - start;
  std::vector<Finding> risen = topology::audit::audit_rates(before, after, passed.count(), site);
  std::move(risen.begin(), risen.end(), std::back_inserter(findings));
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return {};
}

}  // namespace

Result<Site> site_of(const Arguments& arguments) {
  Site site;
  if (arguments.site) {
    WEFT_TRY_ASSIGN(site, topology::audit::load_site(*arguments.site));
  }
  for (const std::string& text : arguments.ignored) {
    Result<topology::audit::Ignored> one = topology::audit::parse_ignored(text);
    if (!one) return std::move(one).error().with_context("--ignore");
    site.ignored.push_back(std::move(one).value());
  }
  return site;
}

Result<std::optional<Survey>> reference_of(const Arguments& arguments) {
  if (!arguments.expect) return std::optional<Survey>();
  const std::string& name = *arguments.expect;
  Result<topology::Graph> model = topology::model(name);
  if (model) {
    Survey reference;
    reference.graph = std::move(model).value();
    reference.source = topology::kModelSource;
    return std::optional(std::move(reference));
  }
  Result<Survey> loaded = topology::load_survey(name);
  if (loaded) return std::optional(std::move(loaded).value());
  if (loaded.error().code() != Code::NotFound) return std::move(loaded).error().with_context("--expect");
  return Status(Code::NotFound,
                fmt::format("--expect {}: there is no such file, and no model of that name; models are {}", name,
                            fmt::join(topology::model_names(), ", ")));
}

Result<std::vector<Finding>> judge(const Arguments& arguments, const Survey& survey) {
  WEFT_TRY_ASSIGN(const Site site, site_of(arguments));
  WEFT_TRY_ASSIGN(const std::optional<Survey> reference, reference_of(arguments));
  std::vector<Finding> findings = topology::audit::audit(survey, site, reference ? &*reference : nullptr);
  if (arguments.interval_s > 0) WEFT_TRY(look_again(arguments, survey, site, findings));
  return findings;
}

}  // namespace weft::topo_probe
