// What a quantised call may be off by: docs/numerics.md's bound, block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/weft-bench/pattern.hpp"
#include "weft/operation.hpp"

namespace weft::bench {

class Tolerance {
 public:
  // Of a call over `ranks`, where `sources` are the ranks' contributions that the numbers are made of, all of them or
  // one.
  Tolerance(const Operation& call, int ranks, std::vector<const Sequence*> sources);

  // How many of the `count` elements at `found` are further from those of `expected` than they may be; the index of the
  // first one goes to `where`, and what it may be off by to `by`. Both begin where a block does.
  std::uint64_t count_beyond(const std::byte* found, const Sequence& expected, std::uint64_t count,
                             std::uint64_t* where, double* by) const;

 private:
  double of_block(const Sequence& expected, std::uint64_t first, std::uint64_t end) const;
  double largest(const Sequence& values, std::uint64_t first, std::uint64_t end) const;

  DataType dtype_;
  double unit_;
  double share_ = 1;  // of the inputs' errors: avg divides them
  bool reduces_;      // the result is quantised, too
  std::vector<const Sequence*> sources_;
};

}  // namespace weft::bench
