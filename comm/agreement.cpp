#include "comm/agreement.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

namespace weft::comm {
namespace {

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

std::vector<int> own_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

Result<topology::Graph> own_graph(const Options& options) {
  if (options.topology_file.empty()) return topology::probe();
  if (options.topology_file.starts_with("model:"))
    return topology::model(std::string_view(options.topology_file).substr(6));
  return topology::load(options.topology_file);
}

std::string key(std::string_view what, int rank) { return fmt::format("agree/{}/{}", what, rank); }

// What rank 0 publishes either holds, or is the reason why there is nothing: then all ranks fail with the same words.
constexpr char kGood = '+';
constexpr char kBad = '-';

Status publish(transports::Store& store, std::string_view name, const Result<std::string>& value) {
  if (value.has_value()) return store.set(name, kGood + *value);
  WEFT_TRY(store.set(name, kBad + std::string(value.error().message())));
  return value.error();
}

Result<std::string> published(transports::Store& store, std::string_view name, int timeout_ms) {
  Result<std::string> value = store.get(name, timeout_ms);
  if (!value.has_value()) return value;
  if (value->empty()) return Status(Code::Corrupt, "rank 0 published nothing");
  const std::string text = value->substr(1);
  if (value->front() == kGood) return text;
  return Status(Code::Unsupported, "rank 0 could not make the communicator: " + text);
}

// The first rank of each host, by host; and every rank's host.
struct Hosts {
  std::vector<int> leader;
  std::vector<int> host_of;
};

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

Result<std::string> gather_facts(transports::Store& store, int timeout_ms) {
  std::string all;
  for (int rank = 0; rank < store.size(); ++rank) {
    WEFT_TRY_ASSIGN(const std::string facts, store.get(key("facts", rank), timeout_ms));
    all += fmt::format("{} ", facts.size()) + facts;
    WEFT_TRY(store.remove(key("facts", rank)));
  }
  return all;
}

Result<std::vector<RankFacts>> parse_facts(std::string_view all) {
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

// A rank's second message: which transports reach its host's leader, and the host's graph if it leads.
std::string reach_text(const std::vector<std::unique_ptr<transports::Transport>>& transports, const RankFacts& leader) {
  std::string reached;
  for (const auto& transport : transports) {
    const auto address = leader.addresses.find(std::string(transport->name()));
    if (address != leader.addresses.end() && transport->reaches(address->second))
      reached += fmt::format("{} ", transport->name());
  }
  return reached;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    if (blank > 0) words.emplace_back(text.substr(0, blank));
    text.remove_prefix(std::min(text.size(), blank + 1));
  }
  return words;
}

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

Result<std::string> merge(transports::Store& store, const Options& options, const std::vector<RankFacts>& facts,
                          const std::vector<std::string>& transport_names) {
  Agreement agreement;
  const Hosts hosts = hosts_of(facts);
  for (int rank = 0; rank < store.size(); ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    WEFT_TRY_ASSIGN(const std::string reached, store.get(key("reach", rank), options.timeout_ms));
    agreement.ranks.push_back({hosts.host_of[index], facts[index].addresses, words(reached)});
    WEFT_TRY(store.remove(key("reach", rank)));
  }
  std::vector<topology::Graph> graphs;
  for (std::size_t host = 0; host < hosts.leader.size(); ++host) {
    const int leader = hosts.leader[host];
    WEFT_TRY_ASSIGN(const std::string text, published(store, key("graph", leader), options.timeout_ms));
    WEFT_TRY_ASSIGN(topology::Graph graph, topology::from_json(text));
    if (graph.hosts() != 1) {
      return Status(Code::InvalidArgument,
                    fmt::format("the topology of rank {} describes {} hosts; WEFT_TOPOLOGY must describe the one "
                                "host that the rank runs on",
                                leader, graph.hosts()));
    }
    graphs.push_back(std::move(graph));
    agreement.hosts.push_back(facts[static_cast<std::size_t>(leader)].host_name);
    agreement.oversubscribed.push_back(more_ranks_than_cpus(facts, hosts, static_cast<int>(host)));
    WEFT_TRY(store.remove(key("graph", leader)));
  }
  if (graphs.size() == 1) {
    agreement.graph = std::move(graphs.front());
  } else {
    WEFT_TRY_ASSIGN(agreement.graph, topology::merge(graphs));
  }
  agreement.transports = transport_names;
  agreement.algorithms = options.algorithms;
  agreement.channels = options.channels;
  return to_json(agreement);
}

}  // namespace

std::string Agreement::transport(int a, int b) const {
  const AgreedRank& first = ranks[static_cast<std::size_t>(a)];
  const AgreedRank& second = ranks[static_cast<std::size_t>(b)];
  const auto reaches = [](const AgreedRank& rank, const std::string& name) {
    return std::find(rank.reaches_leader.begin(), rank.reaches_leader.end(), name) != rank.reaches_leader.end();
  };
  for (const std::string& name : transports) {
    if (!first.addresses.contains(name) || !second.addresses.contains(name)) continue;
    // Within a host, what reached the leader from both sides; between hosts, what crosses hosts at all.
    const bool crosses_hosts = name != "shm" && name != "local";
    if (first.host == second.host ? reaches(first, name) && reaches(second, name) : crosses_hosts) return name;
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

Result<Agreement> agree(transports::Store& store, const Options& options,
                        const std::vector<std::unique_ptr<transports::Transport>>& transports,
                        const topology::Graph* graph) {
  RankFacts own{boot_id() + "/" + options.host_id, host_name(), own_cpus(), {}};
  std::vector<std::string> names;
  for (const auto& transport : transports) {
    names.emplace_back(transport->name());
    own.addresses.emplace(transport->name(), transport->address());
  }
  WEFT_TRY(store.set(key("facts", store.rank()), to_json(own)));
  if (store.rank() == 0) WEFT_TRY(publish(store, "agree/facts", gather_facts(store, options.timeout_ms)));
  WEFT_TRY_ASSIGN(const std::string all, published(store, "agree/facts", options.timeout_ms));
  WEFT_TRY_ASSIGN(const std::vector<RankFacts> facts, parse_facts(all));
  if (facts.size() != static_cast<std::size_t>(store.size()))
    return Status(Code::Corrupt, "rank 0 published facts of another job");

  const Hosts hosts = hosts_of(facts);
  const int leader = hosts.leader[static_cast<std::size_t>(hosts.host_of[static_cast<std::size_t>(store.rank())])];
  if (leader == store.rank()) {
    const Result<topology::Graph> seen = graph != nullptr ? Result<topology::Graph>(*graph) : own_graph(options);
    WEFT_TRY(publish(store, key("graph", leader),
                     seen.has_value() ? Result<std::string>(topology::to_json(*seen)) : seen.error()));
  }
  WEFT_TRY(store.set(key("reach", store.rank()), reach_text(transports, facts[static_cast<std::size_t>(leader)])));
  if (store.rank() == 0) WEFT_TRY(publish(store, "agree/result", merge(store, options, facts, names)));
  WEFT_TRY_ASSIGN(const std::string result, published(store, "agree/result", options.timeout_ms));
  return agreement_from_json(result);
}

}  // namespace weft::comm
