// PlanCache: finds what is known of a call that was made before: what it asks of its buffers, and its bound plans. A
// hit reads one or two cache lines and allocates nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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

  PlanCache() : entries_(kCapacity) {}

  // Of nothing that runs.
  void clear() { entries_ = std::vector<KnownCall>(kCapacity); }

  // Valid until the next insert().
  KnownCall* find(const PlanKey& key) {
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      KnownCall& entry = entries_[slot(key, probe)];
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }
  // The same of a v-variant.
  KnownCall* find(const PlanKey& key, const std::vector<std::uint64_t>& blocks) {
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      KnownCall& entry = entries_[slot(key, probe)];
      if (entry.key == key && entry.blocks == blocks) return &entry;
    }
    return nullptr;
  }

  // A call without plans. If all places of the key are taken it takes that of one that is not running, rather of a
  // v-variant, whose counts may never come again; null if all of them run.
  KnownCall* insert(const PlanKey& key, const Footprint& footprint, std::vector<std::uint64_t> blocks = {}) {
    for (const Evict evict : {Evict::None, Evict::Uneven, Evict::Any}) {
      for (std::size_t probe = 0; probe < kProbes; ++probe) {
        KnownCall& entry = entries_[slot(key, probe)];
        if (entry.key != PlanKey() && (!may_evict(entry, evict) || entry.runs())) continue;
        entry = KnownCall{key, std::move(blocks), footprint, {}};
        return &entry;
      }
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kProbes = 8;

  enum class Evict : std::uint8_t { None, Uneven, Any };
  static bool may_evict(const KnownCall& entry, Evict evict) {
    return evict == Evict::Any || (evict == Evict::Uneven && !entry.blocks.empty());
  }

  static std::size_t slot(const PlanKey& key, std::size_t probe) {
    std::uint64_t hash = key.count * 0x9e3779b97f4a7c15 ^ key.rest * 0xc2b2ae3d27d4eb4f;
    hash ^= hash >> 29;
    return (hash + probe) % kCapacity;
  }

  std::vector<KnownCall> entries_;
};

}  // namespace weft::comm
