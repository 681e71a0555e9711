// What hierarchical algorithms say alike: every host has one rank for each chunk, its owner there, and between hosts
// only owners talk.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/rules.hpp"

namespace weft::algorithms {

// The chunks 0 .. chunks - 1 are shared out among the ranks of each host, in order and as evenly as may be: with as
// many chunks as ranks, whatever the hosts' sizes are, all links between hosts are used alike.
class HostOwners final {
 public:
  HostOwners(const Group& group, int chunks) : hosts_(group.hosts), chunks_(chunks) {}

  int hosts() const { return static_cast<int>(hosts_.size()); }
  const std::vector<int>& ranks(int host) const { return hosts_[static_cast<std::size_t>(host)]; }
  // Where the chunk's way round the hosts ends when it collects, and begins when it is handed out.
  int home(int chunk) const { return chunk % hosts(); }
  // Hosts count cyclically.
  int owner(int host, int chunk) const {
    const std::vector<int>& own = ranks(host % hosts());
    return own[static_cast<std::size_t>(chunk) * own.size() / static_cast<std::size_t>(chunks_)];
  }

 private:
  const std::vector<std::vector<int>>& hosts_;
  int chunks_;
};

// The same where every rank has a block of its own: its owner on its own host, its home, is that rank, on the others
// the one at the same part of the host.
class HostBlocks final {
 public:
  HostBlocks(const Group& group, int size) : hosts_(group.hosts), places_(static_cast<std::size_t>(size)) {
    for (std::size_t host = 0; host < hosts_.size(); ++host)
      for (std::size_t local = 0; local < hosts_[host].size(); ++local)
        places_[static_cast<std::size_t>(hosts_[host][local])] = {host, local};
  }

  int hosts() const { return static_cast<int>(hosts_.size()); }
  const std::vector<int>& ranks(int host) const { return hosts_[static_cast<std::size_t>(host)]; }
  int home(int block) const { return static_cast<int>(places_[static_cast<std::size_t>(block)].first); }
  // Hosts count cyclically.
  int owner(int host, int block) const {
    const auto [home, local] = places_[static_cast<std::size_t>(block)];
    const std::vector<int>& own = ranks(host % hosts());
    return own[local * own.size() / hosts_[home].size()];
  }

 private:
  const std::vector<std::vector<int>>& hosts_;
  std::vector<std::pair<std::size_t, std::size_t>> places_;  // by rank: host, and which of its ranks
};

// Chunks that go from one rank to another at the same time are one message.
class Messages final {
 public:
  void add(int chunk, int from, int to) { chunks_[{from, to}].push_back(chunk); }
  void reduce(ScheduleBuilder& b) {
    for (const auto& [ends, chunks] : chunks_) b.reduce(chunks, ends.first, ends.second);
    chunks_.clear();
  }
  void copy(ScheduleBuilder& b) {
    for (const auto& [ends, chunks] : chunks_) b.copy(chunks, ends.first, ends.second);
    chunks_.clear();
  }

 private:
  std::map<std::pair<int, int>, std::vector<int>> chunks_;
};

// Each host's owners sum up what its ranks have, in their order.
template <typename Owners>
void reduce_within_hosts(ScheduleBuilder& b, const Owners& owners, int chunks) {
  for (int host = 0; host < owners.hosts(); ++host)
    for (int chunk = 0; chunk < chunks; ++chunk)
      b.reduce_in_order(chunk, owners.ranks(host), owners.owner(host, chunk));
}

// And hand out what they have.
template <typename Owners>
void copy_within_hosts(ScheduleBuilder& b, const Owners& owners, int chunks) {
  Messages messages;
  for (int host = 0; host < owners.hosts(); ++host) {
    for (int chunk = 0; chunk < chunks; ++chunk)
      for (const int rank : owners.ranks(host))
        if (rank != owners.owner(host, chunk)) messages.add(chunk, owners.owner(host, chunk), rank);
  }
  messages.copy(b);
}

// One step of all chunks round the hosts: each from the owner `hop` hosts behind its home to the next.
template <typename Owners>
Messages hop_between_hosts(const Owners& owners, int chunks, int hop) {
  Messages messages;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int from = owners.home(chunk) + hop;
    messages.add(chunk, owners.owner(from, chunk), owners.owner(from + 1, chunk));
  }
  return messages;
}

// Each chunk goes round the hosts to its home, collecting.
template <typename Owners>
void reduce_round_hosts(ScheduleBuilder& b, const Owners& owners, int chunks) {
  for (int hop = 1; hop < owners.hosts(); ++hop) hop_between_hosts(owners, chunks, hop).reduce(b);
}

// And from there to the others.
template <typename Owners>
void copy_round_hosts(ScheduleBuilder& b, const Owners& owners, int chunks) {
  for (int hop = 0; hop + 1 < owners.hosts(); ++hop) hop_between_hosts(owners, chunks, hop).copy(b);
}

inline std::string_view needs_several_hosts(const Group& group, const Request&) {
  if (group.hosts.size() < 2) return "there is one host only";
  if (group.hosts.size() == static_cast<std::size_t>(group.size)) return "every host has one rank only";
  return {};
}

}  // namespace weft::algorithms
