// Hierarchical all_reduce by halving and doubling: the ranks of each host sum up a part of the buffer each; between
// hosts the parts are halved, summed and put together again; then the hosts' ranks hand each other the sums.
//
//   4 hosts:   h0 <-> h1: half, h2 <-> h3   h0 <-> h2: a quarter, h1 <-> h3   and back
//
// 2 log2(H) steps between H hosts, over whose links 2(H-1)/H bytes go per byte. A number of hosts that is no power of
// two folds its excess into neighbours first (2 more steps with all the data). Built canonical it reduces in the order
// of Numerics::Invariant where hosts hold aligned blocks of 2^k ranks.
#include <bit>

#include "algorithms/hosts.hpp"

namespace weft::algorithms {
namespace {

// Where a chunk's sum comes to lie: of `hosts` positions, a power of two, such that each round halves what is in one
// piece.
int target(int chunk, int hosts) {
  const int piece = chunk % hosts;
  int reversed = 0;
  for (int bit = 1; bit < hosts; bit *= 2) reversed = reversed * 2 + ((piece & bit) != 0 ? 1 : 0);
  return reversed;
}

// What position `p` exchanges in the round of `distance`: chunks of which it and its partner hold parts.
bool takes_part(int p, int target, int distance) { return (p & (distance - 1)) == (target & (distance - 1)); }

bool aligned_blocks(const Group& group) {
  const std::size_t ranks = group.hosts.front().size();
  if (!std::has_single_bit(ranks)) return false;
  int next = 0;
  for (const std::vector<int>& host : group.hosts) {
    if (host.size() != ranks) return false;
    for (const int rank : host)
      if (rank != next++) return false;
  }
  return true;
}

std::string_view unsupported(const Group& group, const Request& request) {
  if (request.numerics == Numerics::Invariant && !aligned_blocks(group))
    return "reduces in the order of Numerics::Invariant only where hosts hold aligned blocks of 2^k ranks";
  return needs_several_hosts(group, request);
}

}  // namespace

static void build(ScheduleBuilder& b) {
  const int chunks = b.size();
  const HostOwners owners(b.group(), chunks);
  const PowerOfTwo core(owners.hosts());
  const int hosts = core.size();
  reduce_within_hosts(b, owners, chunks);
  Messages messages;
  for (const auto& [spare, keeper] : core.spares())
    for (int chunk = 0; chunk < chunks; ++chunk)
      messages.add(chunk, owners.owner(spare, chunk), owners.owner(keeper, chunk));
  messages.reduce(b);
  const auto exchange = [&](int distance, bool forwards) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const int goal = target(chunk, hosts);
      for (int p = 0; p < hosts; ++p) {
        if (!takes_part(p, goal, distance) || (p & distance) == (goal & distance)) continue;
        const int outer = owners.owner(core[p], chunk);
        const int inner = owners.owner(core[p ^ distance], chunk);
        messages.add(chunk, forwards ? outer : inner, forwards ? inner : outer);
      }
    }
  };
  for (int distance = 1; distance < hosts; distance *= 2) {
    exchange(distance, true);
    messages.reduce(b);
  }
  for (int distance = hosts / 2; distance > 0; distance /= 2) {
    exchange(distance, false);
    messages.copy(b);
  }
  for (const auto& [spare, keeper] : core.spares())
    for (int chunk = 0; chunk < chunks; ++chunk)
      messages.add(chunk, owners.owner(keeper, chunk), owners.owner(spare, chunk));
  messages.copy(b);
  copy_within_hosts(b, owners, chunks);
}

extern const Algorithm all_reduce_hierarchical_halving = {
    .name = "hierarchical_halving",
    .collective = Collective::AllReduce,
    .summary = "within hosts, halving and doubling between them, within hosts; few steps between hosts",
    .native_channels = 1,
    .replicable = true,
    .chunks_per_block = chunk_per_rank,
    .unsupported = unsupported,
    .build = build,
    .invariant = true,
};

}  // namespace weft::algorithms
