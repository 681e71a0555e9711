// Agreement: what all ranks of a job hold to be true, in the same bytes: hosts, topology, settings. Choices are pure
// functions of it.
//
// Made once, when the root communicator is created: every rank tells rank 0 what it is and sees, rank 0 merges and
// publishes, and all ranks, rank 0 included, parse what was published.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transports/store/store.hpp"
#include "transports/transport.hpp"
#include "weft/graph.hpp"
#include "weft/options.hpp"
#include "weft/status.hpp"

namespace weft::comm {

// What one rank brings.
struct RankFacts {
  std::string host_id;  // equal: candidates for the same host
  std::string host_name;
  std::vector<int> cpus;                         // it may run on
  std::map<std::string, std::string> addresses;  // by transport

  bool operator==(const RankFacts&) const = default;
};

struct AgreedRank {
  int host = 0;  // index of its host, by first appearance of host_id
  std::map<std::string, std::string> addresses;
  std::vector<std::string> reaches_leader;  // transports that really reached the first rank of its host

  bool operator==(const AgreedRank&) const = default;
};

struct Agreement {
  std::vector<AgreedRank> ranks;
  std::vector<std::string> hosts;       // names
  std::vector<bool> oversubscribed;     // by host: more ranks than cores they may run on
  std::vector<std::string> transports;  // in order of preference
  topology::Graph graph;                // of all hosts
  std::string algorithms;               // Options::algorithms of rank 0, and its channels:
  int channels = 0;

  // The transport between two ranks; empty if none reaches. Symmetric.
  std::string transport(int a, int b) const;

  bool operator==(const Agreement&) const = default;
};

std::string to_json(const RankFacts& facts);
Result<RankFacts> rank_facts_from_json(std::string_view text);
std::string to_json(const Agreement& agreement);
Result<Agreement> agreement_from_json(std::string_view text);

// Where host buffers of each rank live on the graph: the core groups of its host in turn (its machine node if it has
// none).
std::vector<int> place_on_cores(const Agreement& agreement);

// Collective. `transports` in order of preference. `graph` may be null: then the first rank of each host reads
// options.topology_file or probes the machine.
Result<Agreement> agree(transports::Store& store, const Options& options,
                        const std::vector<std::unique_ptr<transports::Transport>>& transports,
                        const topology::Graph* graph);

}  // namespace weft::comm
