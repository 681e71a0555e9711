// The calls that this rank made lately, published so that peers can compare them with theirs.
//
// The calling thread writes one record per call with plain stores; the control thread reads any of them at any time. A
// record is guarded by its own sequence: odd while it is being written, so that a reader never mistakes half a record
// for a call.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "comm/call_code.hpp"
#include "weft/operation.hpp"

namespace weft::comm {

struct CallRecord {
  std::uint32_t sequence = 0;  // of the call in its communicator, from 1
  std::uint32_t call = 0;      // call_code()
  std::int32_t root = 0;       // Free: Purpose::memory
  std::uint64_t count = 0;     // of a v-variant: agreed_count(); Allocate, Free: Purpose::bytes
  std::uint64_t hash = 0;      // count, root, plan and purpose: what travels in messages

  bool operator==(const CallRecord&) const = default;
};

// What a call is for, where its operation alone does not tell: what reports name instead, and what all ranks must have
// alike besides.
struct Purpose {
  CallKind kind = CallKind::Plain;
  std::uint64_t hash = 0;    // OfList: of the counts of its operations
  std::uint64_t bytes = 0;   // Allocate, Free
  std::uint32_t memory = 0;  // Free: the sequence of the call that allocated it
};
CallRecord with_purpose(CallRecord record, const Purpose& purpose);

// "all_reduce #42 of 100 float32, sum", "broadcast #3 of 8 int32 from root 1", "all_gather #5 of 8 float32, quantised
// to int8", "all_reduce #7 of a list, together 6 float32 (counts 5ad31f07), sum", "allocate #8 of 4096 bytes".
std::string describe(const CallRecord& record);
// The same of what a message's signature tells: without count and root. "an unknown call" where it tells nothing.
std::string describe_kind(const CallRecord& record);

class CallHistory final {
 public:
  static constexpr std::uint32_t kKept = 64;

  // Calling thread only.
  void publish(const CallRecord& record) {
    Slot& slot = slots_[record.sequence % kKept];
    slot.guard.store(std::uint64_t{record.sequence} * 2 + 1, std::memory_order_relaxed);
    // Release: the odd guard is seen before any of these; pairs with the acquires in find().
    const std::uint64_t call_root = std::uint64_t{record.call} << 32 | static_cast<std::uint32_t>(record.root);
    slot.call_root.store(call_root, std::memory_order_release);
    slot.count.store(record.count, std::memory_order_release);
    slot.hash.store(record.hash, std::memory_order_release);
    slot.guard.store(std::uint64_t{record.sequence} * 2, std::memory_order_release);
    latest_.store(record.sequence, std::memory_order_release);
  }

  // Any thread. Empty if the call was not made yet, is too long ago, or is being written.
  std::optional<CallRecord> find(std::uint32_t sequence) const;
  // The sequence of the last call; 0 before the first.
  std::uint32_t latest() const { return latest_.load(std::memory_order_acquire); }

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> guard{0};
    std::atomic<std::uint64_t> call_root{0};
    std::atomic<std::uint64_t> count{0};
    std::atomic<std::uint64_t> hash{0};
  };
  std::array<Slot, kKept> slots_;
  std::atomic<std::uint32_t> latest_{0};
};

}  // namespace weft::comm
