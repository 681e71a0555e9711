// Lists of collectives in one call. Short ones that are alike are packed into one call, because each costs a round of
// messages whatever its length; the others are started together.
//
// What is packed depends only on what all ranks know of the calls, so all pack alike.
#include <algorithm>
#include <array>
#include <vector>

#include "base/copy_bytes.hpp"
#include "comm/check.hpp"
#include "comm/communicator_state.hpp"
#include "comm/mix.hpp"

namespace weft::comm {
namespace {

// Of an operation's larger side. Between 2 ranks over shared memory 64 all_reduces of 1 KiB take 32 us one by one, 32
// started together and 10 packed; of 16 KiB they take the same each way; longer ones gain less from sharing a round
// than the two copies cost. Between 4 ranks on 2 cores packing wins by 6, 2, and from 64 KiB on not at all.
constexpr std::uint64_t kShortBytes = std::uint64_t{16} << 10;
// Of a pack's larger side: the memory that packing takes.
constexpr std::uint64_t kPackBytes = std::uint64_t{1} << 20;

// Operations of a list that are in flight at a time: more do not move faster, and each may need a plan of its own.
constexpr std::size_t kInFlight = 16;

// The blocks of a quantised call begin where its buffer does: in a pack other numbers would decide how it is rounded.
bool can_be_packed(const Operation& operation) {
  if (operation.quantisation != Quantisation::None) return false;
  switch (operation.collective) {
    case Collective::AllReduce:
    case Collective::AllGather:
    case Collective::ReduceScatter:
    case Collective::Broadcast:
      return !operation.uneven && operation.count > 0;
    default:
      return false;
  }
}

bool alike(const Operation& a, const Operation& b) {
  return a.collective == b.collective && a.dtype == b.dtype && (!reduces(a.collective) || a.op == b.op) &&
         (!has_root(a.collective) || a.root == b.root);
}

// Blocks of the input and of the output; the larger side has all of them.
struct Sides {
  std::uint64_t in = 1;
  std::uint64_t out = 1;
};
Sides sides_of(Collective collective, int size) {
  const auto ranks = static_cast<std::uint64_t>(size);
  if (collective == Collective::AllGather) return {1, ranks};
  if (collective == Collective::ReduceScatter) return {ranks, 1};
  return {1, 1};
}

std::uint64_t larger_side(const Operation& operation, int size) {
  const Sides sides = sides_of(operation.collective, size);
  return operation.count * size_of(operation.dtype) * std::max(sides.in, sides.out);
}

using Members = std::vector<const Operation*>;

// In the order of their first members; one of a single operation is run as it is.
std::vector<Members> packs_of(std::span<const Operation> operations, int size) {
  struct Open {
    std::size_t pack;
    std::uint64_t bytes;
  };
  std::vector<Members> packs;
  std::vector<Open> open;  // the last pack of each kind
  for (const Operation& operation : operations) {
    const std::uint64_t bytes = larger_side(operation, size);
    const bool packed = can_be_packed(operation) && bytes <= kShortBytes;
    const auto found = std::find_if(open.begin(), open.end(), [&](const Open& candidate) {
      return packed && alike(*packs[candidate.pack].front(), operation);
    });
    if (found != open.end() && found->bytes + bytes <= kPackBytes) {
      packs[found->pack].push_back(&operation);
      found->bytes += bytes;
      continue;
    }
    packs.push_back({&operation});
    if (found != open.end()) {
      *found = {packs.size() - 1, bytes};
    } else if (packed) {
      open.push_back({packs.size() - 1, bytes});
    }
  }
  return packs;
}

// Between the members' buffers and the pack's: block by block, and in each the members one behind the other.
template <typename Copy>
void for_each_part(const Members& members, std::uint64_t blocks, std::byte* pack, const Copy& copy) {
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (const Operation* const member : members) {
      const std::uint64_t bytes = member->count * size_of(member->dtype);
      copy(*member, block * bytes, pack, bytes);
      pack += bytes;
    }
  }
}

}  // namespace

Status CommunicatorState::run_pack(std::span<const Operation* const> span) {
  const Members members(span.begin(), span.end());
  const Sides sides = sides_of(members.front()->collective, size());
  Operation pack = *members.front();
  pack.count = 0;
  // Packs of as many elements may still be of other operations.
  Purpose purpose{.kind = CallKind::OfList};
  for (const Operation* const member : members) {
    pack.count += member->count;
    purpose.hash = mix(purpose.hash, member->count);
  }
  const std::uint64_t bytes = pack.count * size_of(pack.dtype);
  std::vector<std::byte>& in = packed_[0];
  std::vector<std::byte>& out = sides.in == sides.out ? packed_[0] : packed_[1];
  in.resize(std::max(in.size(), bytes * sides.in));
  out.resize(std::max(out.size(), bytes * sides.out));
  if (!has_root(pack.collective) || pack.root == rank()) {
    for_each_part(members, sides.in, in.data(),
                  [](const Operation& member, std::uint64_t at, std::byte* place, std::uint64_t part) {
                    base::copy_bytes(place, static_cast<const std::byte*>(member.in) + at, part);
                  });
  }
  pack.in = in.data();
  pack.out = out.data();
  WEFT_TRY(run(pack, 0, &purpose));
  for_each_part(members, sides.out, out.data(),
                [](const Operation& member, std::uint64_t at, std::byte* place, std::uint64_t part) {
                  base::copy_bytes(static_cast<std::byte*>(member.out) + at, place, part);
                });
  return {};
}

Status CommunicatorState::run(std::span<const Operation> operations) {
  if (forked()) return in_child();
  if (waits_.load(std::memory_order_relaxed)) return busy();  // packs of who waits are in use
  WEFT_TRY(member_.faults.status());
  for (const Operation& operation : operations) {
    WEFT_TRY(check(operation, rank(), size()));
    Operation resolved = operation;
    const UserOperator* made = nullptr;
    WEFT_TRY(resolve(&resolved, &made));
  }
  const std::vector<Members> packs = packs_of(operations, size());
  std::vector<std::uint32_t> tickets;
  std::size_t waited = 0;
  Status first;
  const auto wait_for_oldest = [&] {
    Status outcome = wait(tickets[waited++]);
    if (first.ok()) first = std::move(outcome);
  };
  // Those that need nothing of this rank but to move are on their way while others are packed.
  for (const Members& pack : packs) {
    if (pack.size() > 1) continue;
    if (tickets.size() - waited == kInFlight) wait_for_oldest();
    if (!first.ok()) break;
    std::uint32_t ticket = 0;
    first = start(*pack.front(), &ticket);
    if (!first.ok()) break;
    tickets.push_back(ticket);
  }
  for (const Members& pack : packs) {
    if (pack.size() > 1 && first.ok()) first = run_pack(pack);
  }
  while (waited < tickets.size()) wait_for_oldest();
  return first;
}

}  // namespace weft::comm
