// PlanCache: finds the bound plan of a call that was made before. A hit reads one or two cache lines and allocates
// nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/bound_plan.hpp"
#include "weft/operation.hpp"

namespace weft::comm {

// What distinguishes plans of one communicator: the call without its addresses.
struct PlanKey {
  std::uint64_t count = 0;
  std::uint64_t rest = 0;  // root, collective, dtype, op, in place

  PlanKey() = default;
  PlanKey(const Operation& operation, bool in_place)
      : count(operation.count),
        rest(static_cast<std::uint64_t>(static_cast<std::uint32_t>(operation.root)) << 32 |
             static_cast<std::uint64_t>(operation.collective) << 24 |
             static_cast<std::uint64_t>(operation.dtype) << 16 | static_cast<std::uint64_t>(operation.op) << 8 |
             static_cast<std::uint64_t>(in_place) << 1 | 1) {}

  bool operator==(const PlanKey&) const = default;
};

class PlanCache final {
 public:
  static constexpr std::size_t kCapacity = 512;

  PlanCache() : entries_(kCapacity) {}

  BoundPlan* find(const PlanKey& key) const {
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      const Entry& entry = entries_[slot(key, probe)];
      if (entry.key == key) return entry.plan.get();
    }
    return nullptr;
  }

  // Takes the place of a plan that is not running, if all places of the key are taken; null (and the plan is given back
  // in *plan) if all of them run.
  BoundPlan* insert(const PlanKey& key, std::unique_ptr<BoundPlan>* plan) {
    for (const bool may_evict : {false, true}) {
      for (std::size_t probe = 0; probe < kProbes; ++probe) {
        Entry& entry = entries_[slot(key, probe)];
        if (entry.plan != nullptr && (!may_evict || entry.plan->in_flight > 0)) continue;
        entry.key = key;
        entry.plan = std::move(*plan);
        return entry.plan.get();
      }
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kProbes = 8;

  struct Entry {
    PlanKey key;
    std::unique_ptr<BoundPlan> plan;
  };

  static std::size_t slot(const PlanKey& key, std::size_t probe) {
    std::uint64_t hash = key.count * 0x9e3779b97f4a7c15 ^ key.rest * 0xc2b2ae3d27d4eb4f;
    hash ^= hash >> 29;
    return (hash + probe) % kCapacity;
  }

  std::vector<Entry> entries_;
};

}  // namespace weft::comm
