// Splitting a communicator, ending it, and checking at the end that nothing is left over.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "comm/communicator_state.hpp"
#include "comm/patience.hpp"

namespace weft::comm {
namespace {

// What every rank brings to a split.
struct SplitEntry {
  std::int32_t color;
  std::int32_t key;
  std::int32_t next_id;
};
constexpr std::uint64_t kSplitWords = sizeof(SplitEntry) / sizeof(std::int32_t);

// How long close() waits for the peer that differs to say what it called.
constexpr double kVerdictMs = 1000;

}  // namespace

Result<std::unique_ptr<CommunicatorState>> CommunicatorState::split(int color, int key) {
  WEFT_TRY(health());
  const auto turn = runtime_->split_turn();
  if (!turn.owns_lock()) return another_splits("split");
  const SplitEntry own{color, key, static_cast<std::int32_t>(runtime_->next_id)};
  std::vector<SplitEntry> entries(static_cast<std::size_t>(size()));
  WEFT_TRY(run(all_gather(&own, entries.data(), kSplitWords, DataType::Int32)));

  std::int32_t id = 0;
  for (const SplitEntry& entry : entries) id = std::max(id, entry.next_id);
  runtime_->next_id = static_cast<std::uint32_t>(id) + 1;
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank) {
    const bool joins = color < 0 ? rank == this->rank() : entries[static_cast<std::size_t>(rank)].color == color;
    if (joins) ranks.push_back(rank);
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return entries[static_cast<std::size_t>(a)].key < entries[static_cast<std::size_t>(b)].key;
  });
  const auto own_rank = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank()) - ranks.begin());
  std::vector<int> members;
  for (const int rank : ranks) members.push_back(member_.root_rank(rank));
  const CommunicatorKey child{static_cast<std::uint32_t>(id), members.front()};
  return std::unique_ptr<CommunicatorState>(new CommunicatorState(runtime_, child, std::move(members), own_rank));
}

// Which communicators two threads split first would have to be the same on all ranks.
Status CommunicatorState::another_splits(std::string_view call) {
  return Status(Code::InvalidArgument,
                fmt::format("{}: another thread of this process is splitting this communicator or one that it was "
                            "split with; split them one after the other, in the same order on all ranks",
                            call));
}

void CommunicatorState::abort(std::string_view reason) {
  if (forked()) return;
  runtime_->control().fail(
      member_, Status(Code::Aborted, fmt::format("rank {} aborted the communicator: {}", rank(), reason), rank()));
}

// A message that no call of this rank asked for.
Status CommunicatorState::unread_message() {
  for (std::uint16_t index = 0; index < engine_.lanes(); ++index) {
    transports::Unexpected found;
    if (!engine_.lane(index).endpoint().peek(&found)) continue;
    const CallRecord theirs{found.signature.sequence, found.signature.call, 0, 0, found.signature.hash};
    const int peer = engine_.lane(index).peer();
    const auto mine = member_.history.find(theirs.sequence);
    return Status(Code::Mismatch,
                  fmt::format("rank {} sent {} bytes for {} that rank {} never took{}; all ranks must make the same "
                              "calls in the same order",
                              peer, found.bytes, describe_kind(theirs), rank(),
                              mine ? fmt::format(": it called {}", describe(*mine)) : std::string()),
                  peer);
  }
  return {};
}

Status CommunicatorState::compare_digests() {
  struct Digest {
    std::uint64_t sequence;
    std::uint64_t calls;
    std::uint64_t messages;  // 1: the rank has sent or received some
  };
  const Digest own{sequence_, digest_, messages_ != nullptr};
  std::vector<Digest> all(static_cast<std::size_t>(size()));
  WEFT_TRY(run(all_gather(&own, all.data(), sizeof(Digest) / sizeof(std::uint64_t), DataType::UInt64)));
  for (int peer = 0; peer < size(); ++peer) {
    const Digest& theirs = all[static_cast<std::size_t>(peer)];
    if (theirs.sequence == own.sequence && theirs.calls == own.calls) continue;
    runtime_->control().ask(member_, peer);
    Crowding crowding(true);
    Patience patience(crowding);
    while (!member_.faults.raised() && patience.idle_ms() < kVerdictMs) patience.pause();
    runtime_->control().fail(
        member_,
        Status(
            Code::Mismatch,
            fmt::format(
                "ranks {} and {} made different calls, too long ago to say which; all ranks must make the same calls "
                "in the same order",
                std::min(rank(), peer), std::max(rank(), peer)),
            peer));
    return member_.faults.status();
  }
  if (std::all_of(all.begin(), all.end(), [](const Digest& digest) { return digest.messages == 0; })) return {};
  return check_messages_taken();
}

Status CommunicatorState::close() {
  if (forked()) return in_child();
  if (waits_.load(std::memory_order_relaxed)) return busy();
  WEFT_TRY(member_.faults.status());
  for (const auto& slot : slots_) {
    if (!done(*slot)) {
      return Status(Code::InvalidArgument,
                    fmt::format("close: {} is still in flight; wait for it first", describe_slot(*slot)));
    }
  }
  WEFT_TRY(compare_digests());
  if (Status unread = unread_message(); !unread.ok()) {
    runtime_->control().fail(member_, unread);
    return member_.faults.status();
  }
  return {};
}

}  // namespace weft::comm
