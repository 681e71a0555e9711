// Hosts from host ids, and all that the ranks said as one agreement.
#include "comm/merge_agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "comm/publish.hpp"

namespace weft::comm {
namespace {

bool more_ranks_than_cpus(const std::vector<RankFacts>& facts, const Hosts& hosts, int host) {
  std::set<int> cpus;
  std::size_t ranks = 0;
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    if (hosts.host_of[rank] != host) continue;
    cpus.insert(facts[rank].cpus.begin(), facts[rank].cpus.end());
    ++ranks;
  }
  return ranks > cpus.size();
}

// Ranks need not be given a file that rank 0 is given, since rank 0's is used by all; but those that are must be given
// the same.
std::string ranks_that_differ(const std::vector<RankFacts>& facts, std::string RankFacts::*digest) {
  std::string others;
  for (std::size_t rank = 1; rank < facts.size(); ++rank) {
    if (!(facts[rank].*digest).empty() && facts[rank].*digest != facts[0].*digest)
      others += fmt::format("{}{}", others.empty() ? "" : ", ", rank);
  }
  return others;
}

Status same_files(const std::vector<RankFacts>& facts) {
  if (const std::string others = ranks_that_differ(facts, &RankFacts::table_digest); !others.empty())
    return Status(Code::InvalidArgument,
                  fmt::format("WEFT_TABLE: ranks {} have another table than rank 0{}; give all ranks the same file, or "
                              "only rank 0 one",
                              others, facts[0].table_digest.empty() ? ", which has none" : ""));
  const std::string others = ranks_that_differ(facts, &RankFacts::schedules_digest);
  if (others.empty()) return {};
  return Status(
      Code::InvalidArgument,
      fmt::format("WEFT_SCHEDULES: ranks {} have other schedules than rank 0{}; give all ranks the same files "
                  "in the same order, or only rank 0 some",
                  others, facts[0].schedules_digest.empty() ? ", which has none" : ""));
}

}  // namespace

Hosts hosts_of(const std::vector<RankFacts>& facts) {
  Hosts hosts;
  std::map<std::string, int> known;
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    const auto [entry, added] = known.try_emplace(facts[rank].host_id, static_cast<int>(hosts.leader.size()));
    if (added) hosts.leader.push_back(static_cast<int>(rank));
    hosts.host_of.push_back(entry->second);
  }
  return hosts;
}

std::string join_facts(const std::vector<std::string>& facts) {
  std::string all;
  for (const std::string& one : facts) all += fmt::format("{} ", one.size()) + one;
  return all;
}

Result<std::vector<RankFacts>> split_facts(std::string_view all) {
  std::vector<RankFacts> facts;
  while (!all.empty()) {
    const std::size_t blank = all.find(' ');
    std::size_t length = 0;
    const auto parsed = std::from_chars(all.data(), all.data() + std::min(blank, all.size()), length);
    if (blank == std::string_view::npos || parsed.ec != std::errc() || length > all.size() - blank - 1) {
      return Status(Code::Corrupt, "the ranks' facts are cut short");
    }
    WEFT_TRY_ASSIGN(RankFacts one, rank_facts_from_json(all.substr(blank + 1, length)));
    facts.push_back(std::move(one));
    all.remove_prefix(blank + 1 + length);
  }
  return facts;
}

Result<Agreement> merge(const std::vector<RankFacts>& facts, const std::vector<std::string>& views,
                        const AgreementParts& parts) {
  Agreement agreement;
  const Hosts hosts = hosts_of(facts);
  std::vector<topology::Graph> graphs;
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    const auto number = static_cast<int>(rank);
    Result<RankView> view = rank_view_from_json(views[rank]);
    if (!view.has_value()) return blamed_on(number, view.error());
    agreement.ranks.push_back({.host = hosts.host_of[rank],
                               .addresses = facts[rank].addresses,
                               .crosses_hosts = facts[rank].crosses_hosts,
                               .reaches_leader = std::move(view->reaches_leader)});
    if (hosts.leader_of(number) != number) continue;
    Result<topology::Graph> graph = topology::from_json(view->graph);
    if (!graph.has_value()) return blamed_on(number, graph.error());
    graphs.push_back(std::move(*graph));
    agreement.hosts.push_back(facts[rank].host_name);
    agreement.oversubscribed.push_back(more_ranks_than_cpus(facts, hosts, hosts.host_of[rank]));
  }
  if (graphs.size() == 1) {
    agreement.graph = std::move(graphs.front());
  } else {
    WEFT_TRY_ASSIGN(agreement.graph, topology::merge(graphs));
  }
  for (const auto& transport : parts.transports) agreement.transports.emplace_back(transport->name());
  agreement.algorithms = parts.options.algorithms;
  agreement.channels = parts.options.channels;
  agreement.numerics = parts.options.numerics;
  WEFT_TRY(same_files(facts));
  return agreement;
}

}  // namespace weft::comm
