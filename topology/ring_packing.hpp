// Rings of one speed, taken out of what the links of a host have left, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topology/ring_host.hpp"

namespace weft::topology {

// A small generator of its own: the standard's distributions differ between libraries.
class SmallRandom {
 public:
  explicit SmallRandom(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  std::size_t below(std::size_t limit) {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return static_cast<std::size_t>(state_ % limit);
  }

 private:
  std::uint64_t state_;
};

// Of positions in the devices of a host, each starting with 0.
using Rings = std::vector<std::vector<std::size_t>>;

// The host must outlive it. It packs once.
class RingPacking {
 public:
  // At most `most` rings. `seed`: 0 tries devices in order, others shuffle them.
  RingPacking(const RingHost& host, std::int64_t speed, std::size_t most, std::uint64_t seed);

  // Of known rings, in that order: each as often as it fits, or each once and then all again.
  Rings pack(const Rings& known, const std::vector<std::size_t>& order, bool repeat);
  // Each found depth first, and tried once more: `backwards`, or the same way.
  Rings pack(bool backwards);
  // Of the search so far.
  int steps() const { return all_steps_; }

 private:
  bool has_room(const RingPair& pair) const;
  std::int64_t room(const RingPair& pair) const;
  void change(const RingPair& pair, std::int64_t by);
  bool find();
  bool extend();
  std::vector<std::size_t> candidates(std::size_t last) const;
  bool take(const std::vector<std::size_t>& ring);

  const RingHost& host_;
  std::int64_t speed_;
  std::size_t most_;
  bool widest_first_;
  std::vector<std::int64_t> left_;
  std::vector<int> used_;  // by pair: rings that go there
  std::vector<std::vector<std::size_t>> preference_;
  Rings rings_;
  std::vector<std::size_t> order_;
  std::vector<bool> visited_;
  int steps_ = 0;
  int all_steps_ = 0;
};

}  // namespace weft::topology
