// Rank 0's part of the agreement: what all ranks told it, joined.
#pragma once

#include <string>
#include <vector>

#include "comm/agreement.hpp"

namespace weft::comm {

// The first rank of each host, by host; and every rank's host. Hosts are numbered by first appearance.
struct Hosts {
  std::vector<int> leader;
  std::vector<int> host_of;

  int leader_of(int rank) const { return leader[static_cast<std::size_t>(host_of[static_cast<std::size_t>(rank)])]; }
};
Hosts hosts_of(const std::vector<RankFacts>& facts);

// The texts of all ranks' facts as one, and back.
std::string join_facts(const std::vector<std::string>& facts);
Result<std::vector<RankFacts>> split_facts(std::string_view all);

Result<Agreement> merge(const std::vector<RankFacts>& facts, const std::vector<std::string>& views,
                        const AgreementParts& parts);

}  // namespace weft::comm
