// Draw: the random calls of --soak. Equal seeds draw equal calls, on all ranks.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/case.hpp"

namespace weft::bench {

// The arguments' collectives, without those that reduce if no operator of the arguments takes one of their types.
std::vector<Kind> drawable_kinds(const Arguments& arguments);

// Not with the library's distributions, which no standard fixes.
class Draw {
 public:
  // There are drawable_kinds.
  Draw(std::uint64_t seed, const Arguments& arguments, int ranks);

  // 0 to below - 1.
  int number(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }
  Case next();

 private:
  template <typename T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(number(static_cast<int>(values.size())))];
  }
  std::uint64_t bytes();

  std::mt19937_64 random_;
  const Arguments& arguments_;
  std::vector<Kind> kinds_;
  std::vector<std::pair<DataType, ReduceOp>> reductions_;
  int ranks_;
};

}  // namespace weft::bench
