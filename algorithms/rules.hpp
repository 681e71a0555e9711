// What several algorithms say alike: how many chunks, whom they serve, ranks and blocks in order, and the power of two
// within a number of ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/schedule_builder.hpp"

namespace weft::algorithms {

constexpr int one_chunk(int) { return 1; }
constexpr int chunk_per_rank(int size) { return size; }
constexpr int largest_power_of_two(int size) {
  int power = 1;
  while (power * 2 <= size) power *= 2;
  return power;
}
inline std::string_view serves_everything(const Group&, const Request&) { return {}; }
// Of algorithms that pass on what is for others.
inline std::string_view serves_even_blocks(const Group&, const Request& request) {
  return request.uneven ? "passes on blocks whose counts only their owners know" : std::string_view();
}

inline std::vector<int> all_ranks(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// The blocks first .. first + count - 1 of `size`, cyclically, in ascending order: at most two runs.
inline Chunks wrapped_blocks(int first, int count, int size) {
  if (first + count <= size) return Chunks::range(first, count);
  std::vector<int> blocks;
  for (int i = 0; i < count; ++i) blocks.push_back((first + i) % size);
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

// The largest power of two of ranks, each standing for itself and at most one `spare`: of the first 2n places in the
// order, the odd ones are spare, where n ranks are too many. So position p is at place 2p, or p + n beyond those.
class PowerOfTwo {
 public:
  // In the order of the ranks.
  explicit PowerOfTwo(int size) : PowerOfTwo(size, RingOrder(all_ranks(size))) {}
  PowerOfTwo(int size, const RingOrder& order) {
    const int excess = size - largest_power_of_two(size);
    for (int place = 0; place < size; ++place) {
      const bool spare = place < 2 * excess && place % 2 == 1;
      if (spare) {
        spares_.emplace_back(order[place], order[place - 1]);
      } else {
        ranks_.push_back(order[place]);
      }
    }
  }

  int size() const { return static_cast<int>(ranks_.size()); }
  int operator[](int position) const { return ranks_[static_cast<std::size_t>(position)]; }
  // Pairs of a spare rank and the one that stands for it.
  const std::vector<std::pair<int, int>>& spares() const { return spares_; }

 private:
  std::vector<int> ranks_;
  std::vector<std::pair<int, int>> spares_;
};

}  // namespace weft::algorithms
