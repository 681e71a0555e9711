// PlanCache: finds what is known of a call that was made before: what it asks of its buffers, and its bound plans. A
// hit reads one or two cache lines and allocates nothing. A communicator that makes no call has no table, and one that
// makes few a small one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/heap_bytes.hpp"
#include "comm/bound_plan.hpp"
#include "comm/check.hpp"
#include "weft/operation.hpp"

namespace weft::comm {

// What distinguishes calls of one communicator: the operation without its addresses. Those of v-variants may be equal
// where blocks differ.
struct PlanKey {
  std::uint64_t count = 0;
  std::uint64_t rest = 0;  // root, collective, dtype, op, quantisation; 0: no call

  PlanKey() = default;
  // `uneven_hash`: of all that tells the blocks, if there are.
  explicit PlanKey(const Operation& operation, std::uint64_t uneven_hash = 0)
      : count(operation.uneven ? uneven_hash : operation.count),
        rest(static_cast<std::uint64_t>(static_cast<std::uint32_t>(operation.root)) << 32 |
             static_cast<std::uint64_t>(operation.collective) << 24 |
             static_cast<std::uint64_t>(operation.dtype) << 16 | static_cast<std::uint64_t>(operation.op) << 8 |
             static_cast<std::uint64_t>(operation.quantisation) << 2 | (operation.uneven ? 3 : 1)) {}

  ReduceOp op() const { return static_cast<ReduceOp>(rest >> 8 & 0xff); }

  bool operator==(const PlanKey&) const = default;
};

// A call that passed check_call().
struct KnownCall {
  PlanKey key;
  std::vector<std::uint64_t> blocks;  // of a v-variant: flat_blocks()
  Footprint footprint;
  std::array<std::unique_ptr<BoundPlan>, 2> plans;  // out of place, in place; null: not made yet

  bool runs() const {
    return std::any_of(plans.begin(), plans.end(), [](const auto& plan) { return plan && plan->in_flight > 0; });
  }
};

class PlanCache final {
 public:
  static constexpr std::size_t kCapacity = 512;

  // Of nothing that runs.
  void clear() { entries_.clear(); }

  // Valid until the next insert().
  KnownCall* find(const PlanKey& key) {
    return find_in(entries_, key, [&](const KnownCall& entry) { return entry.key == key; });
  }
  // The same of a v-variant.
  KnownCall* find(const PlanKey& key, const std::vector<std::uint64_t>& blocks) {
    return find_in(entries_, key, [&](const KnownCall& entry) { return entry.key == key && entry.blocks == blocks; });
  }

  // A call without plans. If all places of the key are taken and the table has its full size, it takes that of one that
  // is not running, rather of a v-variant, whose counts may never come again; null if all of them run.
  KnownCall* insert(const PlanKey& key, const Footprint& footprint, std::vector<std::uint64_t> blocks = {}) {
    KnownCall* place = place_for(entries_, key, Evict::None);
    while (place == nullptr && grow()) place = place_for(entries_, key, Evict::None);
    if (place == nullptr) place = place_for(entries_, key, Evict::Uneven);
    if (place == nullptr) place = place_for(entries_, key, Evict::Any);
    if (place != nullptr) *place = KnownCall{key, std::move(blocks), footprint, {}};
    return place;
  }

  // Forgets the calls of a user's operator; false, and nothing changed, if one of them runs.
  bool forget(ReduceOp op) {
    const auto of_op = [op](const KnownCall& entry) { return entry.key != PlanKey() && entry.key.op() == op; };
    if (std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) { return of_op(entry) && entry.runs(); }))
      return false;
    for (KnownCall& entry : entries_)
      if (of_op(entry)) entry = KnownCall();
    return true;
  }

  std::uint64_t memory_bytes() const {
    std::uint64_t bytes = base::heap_bytes(entries_);
    for (const KnownCall& entry : entries_) {
      bytes += base::heap_bytes(entry.blocks);
      for (const auto& plan : entry.plans) bytes += plan ? comm::memory_bytes(*plan) : 0;
    }
    return bytes;
  }

 private:
  static constexpr std::size_t kProbes = 8;

  enum class Evict : std::uint8_t { None, Uneven, Any };
  static bool may_evict(const KnownCall& entry, Evict evict) {
    return evict == Evict::Any || (evict == Evict::Uneven && !entry.blocks.empty());
  }

  static std::size_t hash_of(const PlanKey& key) {
    const std::uint64_t hash = key.count * 0x9e3779b97f4a7c15 ^ key.rest * 0xc2b2ae3d27d4eb4f;
    return hash ^ hash >> 29;
  }

  // Among the places of the key. The size of a table is 0 or a power of two.
  template <typename Fits>
  static KnownCall* find_in(std::vector<KnownCall>& table, const PlanKey& key, const Fits& fits) {
    const std::size_t hash = hash_of(key);
    const std::size_t probes = table.empty() ? 0 : kProbes;
    for (std::size_t probe = 0; probe < probes; ++probe) {
      KnownCall& entry = table[(hash + probe) & (table.size() - 1)];
      if (fits(entry)) return &entry;
    }
    return nullptr;
  }

  static KnownCall* place_for(std::vector<KnownCall>& table, const PlanKey& key, Evict evict) {
    return find_in(table, key, [&](const KnownCall& entry) {
      return entry.key == PlanKey() || (may_evict(entry, evict) && !entry.runs());
    });
  }

  // A table of the next size. Calls that find no place in it are forgotten; false, and nothing changed, if one of them
  // runs, or if there is no next size.
  bool grow() {
    if (entries_.size() >= kCapacity) return false;
    std::vector<KnownCall> table(entries_.empty() ? kFirstCapacity : entries_.size() * kGrowth);
    std::vector<std::pair<KnownCall*, KnownCall*>> moves;
    for (KnownCall& entry : entries_) {
      if (entry.key == PlanKey()) continue;
      KnownCall* const place = place_for(table, entry.key, Evict::None);
      if (place == nullptr && entry.runs()) return false;
      if (place == nullptr) continue;
      place->key = entry.key;
      moves.emplace_back(&entry, place);
    }
    for (const auto& [from, to] : moves) *to = std::move(*from);
    entries_ = std::move(table);
    return true;
  }

  static constexpr std::size_t kFirstCapacity = 8;
  static constexpr std::size_t kGrowth = 4;
  static_assert(kFirstCapacity >= kProbes && kFirstCapacity * kGrowth * kGrowth * kGrowth == kCapacity);

  std::vector<KnownCall> entries_;
};

}  // namespace weft::comm
