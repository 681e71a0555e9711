// What is agreed: which transport joins two ranks, where ranks live, and the two rounds in which they agree.
#include "comm/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/deadline.hpp"
#include "comm/build.hpp"
#include "comm/merge_agreement.hpp"
#include "comm/publish.hpp"

namespace weft::comm {
namespace {

constexpr const char* kFactsKey = "agree/facts";
constexpr const char* kResultKey = "agree/result";
std::string facts_key(int rank) { return fmt::format("agree/facts/{}", rank); }
std::string view_key(int rank) { return fmt::format("agree/view/{}", rank); }

// Rank 0 waits until the deadline for what the others bring; the others a little longer, for what it has to say then.
constexpr int kVerdictMs = 1000;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What files of its own a rank was given to choose by.
struct OwnFiles {
  std::string table;
  std::vector<algorithms::ScheduleText> schedules;
};

Result<OwnFiles> own_files(const Options& options) {
  WEFT_TRY_ASSIGN(std::string table, own_table(options));
  WEFT_TRY_ASSIGN(auto schedules, own_schedules(options));
  return OwnFiles{std::move(table), std::move(schedules)};
}

Result<std::string> facts_text(const AgreementParts& parts, const Result<OwnFiles>& files) {
  WEFT_TRY(parts.failure);
  WEFT_TRY(files.status());
  RankFacts facts = own_facts(parts.options, parts.transports, files->table);
  facts.schedules_digest = digest_of(files->schedules);
  return to_line(own_build()) + to_json(facts);
}

Result<std::string> view_text(const AgreementParts& parts, const RankFacts& leader, bool leads) {
  RankView view;
  view.reaches_leader = reached(parts.transports, leader);
  if (leads && parts.graph != nullptr) {
    view.graph = topology::to_json(*parts.graph);
  } else if (leads) {
    WEFT_TRY_ASSIGN(const topology::Graph graph, own_graph(parts.options));
    view.graph = topology::to_json(graph);
  }
  return to_json(view);
}

Result<std::string> facts_of_all(transports::Store& store, base::Deadline deadline) {
  WEFT_TRY_ASSIGN(const auto texts, collect(store, facts_key, deadline));
  WEFT_TRY_ASSIGN(const auto facts, of_one_build(texts));
  return join_facts(facts);
}

Result<std::string> verdict(transports::Store& store, const std::vector<RankFacts>& facts, const AgreementParts& parts,
                            const OwnFiles& files, base::Deadline deadline) {
  WEFT_TRY_ASSIGN(const auto views, collect(store, view_key, deadline));
  WEFT_TRY_ASSIGN(Agreement agreement, merge(facts, views, parts));
  agreement.table = files.table;
  agreement.schedules = files.schedules;
  return to_json(agreement);
}

// A rank's own error names it; so all ranks, this one included, end with the same words.
Result<std::string> of_rank(int rank, Result<std::string> text) {
  if (!text.has_value()) return blamed_on(rank, text.error());
  return text;
}

}  // namespace

std::string Agreement::transport(int a, int b) const {
  const AgreedRank& first = ranks[static_cast<std::size_t>(a)];
  const AgreedRank& second = ranks[static_cast<std::size_t>(b)];
  for (const std::string& name : transports) {
    if (!first.addresses.contains(name) || !second.addresses.contains(name)) continue;
    // Within a host, what reached the leader from both sides; between hosts, what crosses hosts at all.
    const bool works = first.host == second.host
                           ? contains(first.reaches_leader, name) && contains(second.reaches_leader, name)
                           : contains(first.crosses_hosts, name) && contains(second.crosses_hosts, name);
    if (works) return name;
  }
  return {};
}

std::vector<int> place_on_cores(const Agreement& agreement) {
  std::vector<std::vector<int>> groups(agreement.hosts.size());
  std::vector<int> machine(agreement.hosts.size(), 0);
  for (const topology::Node& node : agreement.graph.nodes) {
    if (node.host < 0 || static_cast<std::size_t>(node.host) >= groups.size()) continue;
    if (node.kind == topology::NodeKind::CoreGroup) groups[static_cast<std::size_t>(node.host)].push_back(node.id);
    if (node.kind == topology::NodeKind::Machine) machine[static_cast<std::size_t>(node.host)] = node.id;
  }
  std::vector<std::size_t> ranks_on(groups.size(), 0);
  for (const AgreedRank& rank : agreement.ranks) ++ranks_on[static_cast<std::size_t>(rank.host)];
  std::vector<std::size_t> placed(groups.size(), 0);
  std::vector<int> placement;
  for (const AgreedRank& rank : agreement.ranks) {
    const auto host = static_cast<std::size_t>(rank.host);
    const std::vector<int>& own = groups[host];
    const std::size_t local = placed[host]++;
    placement.push_back(own.empty() ? machine[host] : own[local * own.size() / ranks_on[host]]);
  }
  return placement;
}

// Two words of every rank and two answers of rank 0. An error is a word like any other: no rank turns away before it
// has said all that others wait for.
Result<Agreement> agree(transports::Store& store, const AgreementParts& parts) {
  const int rank = store.rank();
  const auto deadline = base::Deadline::after_ms(parts.options.timeout_ms);
  const auto verdict_by = rank == 0 ? deadline : deadline.later_by_ms(kVerdictMs);

  const Result<OwnFiles> files = own_files(parts.options);
  WEFT_TRY(publish(store, facts_key(rank), of_rank(rank, facts_text(parts, files))));
  if (rank == 0) WEFT_TRY(publish(store, kFactsKey, of_rank(rank, facts_of_all(store, deadline))));
  WEFT_TRY_ASSIGN(const std::string all, published(store, kFactsKey, verdict_by));
  WEFT_TRY_ASSIGN(const std::vector<RankFacts> facts, split_facts(all));
  if (facts.size() != static_cast<std::size_t>(store.size()))
    return Status(Code::Corrupt, "rank 0 published facts of another job");

  const int leader = hosts_of(facts).leader_of(rank);
  const RankFacts& leader_facts = facts[static_cast<std::size_t>(leader)];
  WEFT_TRY(publish(store, view_key(rank), of_rank(rank, view_text(parts, leader_facts, leader == rank))));
  if (rank == 0) WEFT_TRY(publish(store, kResultKey, of_rank(rank, verdict(store, facts, parts, *files, deadline))));
  WEFT_TRY_ASSIGN(const std::string result, published(store, kResultKey, verdict_by));
  WEFT_TRY_ASSIGN(Agreement agreement, agreement_from_json(result));
  if (agreement.ranks.size() != facts.size())
    return Status(Code::Corrupt, "rank 0 published the agreement of another job");
  return agreement;
}

}  // namespace weft::comm
