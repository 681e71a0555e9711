// Equal findings of hosts.
#include "topology/audit/shared_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace weft::topology::audit {
namespace {

// "host12/gpu3" or "host12: this process" -> 12 and the rest; nothing if no host is named.
std::optional<std::pair<std::size_t, std::string>> split_host(const std::string& subject) {
  constexpr std::string_view kHost = "host";
  if (!subject.starts_with(kHost)) return std::nullopt;
  std::size_t host = 0;
  const char* last = subject.data() + subject.size();
  const auto [end, error] = std::from_chars(subject.data() + kHost.size(), last, host);
  if (error != std::errc() || end == last) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(last - end));
  if (rest.starts_with('/')) return std::pair(host, std::string(rest.substr(1)));
  if (rest.starts_with(": ")) return std::pair(host, std::string(rest.substr(2)));
  return std::nullopt;
}

// "host3/" where it begins a word: what stands in "myhost3/" is another's name.
void erase_prefixes(std::string& text, std::string_view prefix) {
  const auto begins_word = [&](std::size_t at) {
    return at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 &&
                       std::string_view("-_.").find(text[at - 1]) == std::string_view::npos);
  };
  for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;) {
    if (begins_word(at))
      text.erase(at, prefix.size());
    else
      at += prefix.size();
  }
}

// Takes the host out of its texts; -1 if it names none.
int take_host(Finding& finding, int hosts) {
  auto split = split_host(finding.subject);
  if (!split || split->first >= static_cast<std::size_t>(hosts)) return hosts == 1 ? 0 : -1;
  finding.subject = std::move(split->second);
  for (std::string* text : {&finding.evidence, &finding.fix})
    erase_prefixes(*text, fmt::format("host{}/", split->first));
  return static_cast<int>(split->first);
}

}  // namespace

std::vector<SharedFinding> share_findings(const std::vector<Finding>& findings, int hosts) {
  std::map<std::tuple<std::string_view, Severity, std::string, std::string, std::string>, std::size_t> known;
  std::vector<SharedFinding> shared;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    Finding finding = findings[i];
    const int host = take_host(finding, hosts);
    const auto [found, fresh] = known.try_emplace(
        std::tuple(finding.id, finding.severity, finding.subject, finding.evidence, finding.fix), shared.size());
    if (fresh) shared.emplace_back().finding = std::move(finding);
    SharedFinding& one = shared[found->second];
    one.members.push_back(i);
    if (host >= 0) one.hosts.push_back(host);
  }
  for (SharedFinding& one : shared) {
    std::sort(one.hosts.begin(), one.hosts.end());
    one.hosts.erase(std::unique(one.hosts.begin(), one.hosts.end()), one.hosts.end());
  }
  return shared;
}

std::string finding_text(const Finding& finding, std::string_view where) {
  return fmt::format("  {} {}{}: {} {}\n    {}\n", to_string(finding.severity), finding.id, where, finding.subject,
                     finding.evidence, finding.fix);
}

std::string no_findings_text() { return fmt::format("no findings ({} rules)\n", rules().size()); }

}  // namespace weft::topology::audit
