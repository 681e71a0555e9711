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

#include "comm/rank_facts.hpp"
#include "transports/store/store.hpp"
#include "weft/graph.hpp"
#include "weft/options.hpp"
#include "weft/status.hpp"

namespace weft::comm {

struct AgreedRank {
  int host = 0;                                  // index of its host, by first appearance of host_id
  std::map<std::string, std::string> addresses;  // by transport
  std::vector<std::string> crosses_hosts;        // transports that do
  std::vector<std::string> reaches_leader;       // transports that really reached the first rank of its host

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
  Numerics numerics = Numerics::Fast;
  std::string table;                                // the measured table of rank 0, as JSON; empty: none
  std::vector<algorithms::ScheduleText> schedules;  // of rank 0's files

  // The transport between two ranks; empty if none reaches. Symmetric.
  std::string transport(int a, int b) const;

  bool operator==(const Agreement&) const = default;
};

std::string to_json(const Agreement& agreement);
Result<Agreement> agreement_from_json(std::string_view text);

// Where host buffers of each rank live on the graph: the core groups of its host in turn (its machine node if it has
// none).
std::vector<int> place_on_cores(const Agreement& agreement);

// What a rank comes with.
struct AgreementParts {
  const Options& options;
  const Transports& transports;            // in order of preference
  const topology::Graph* graph = nullptr;  // null: the first rank of each host reads options.topology_file or probes
  Status failure;                          // why this rank cannot take part after all: then nobody can
};

// Collective, with options.timeout_ms for all of it. A failure of any rank is the failure of all, at once and in the
// same words; Status::peer() is the rank that is to blame.
Result<Agreement> agree(transports::Store& store, const AgreementParts& parts);

}  // namespace weft::comm
