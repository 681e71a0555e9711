// Case: one call to measure, and how many elements each rank reads and writes in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/operation.hpp"

namespace weft::bench {

// What is measured: everything but the buffers.
struct Case {
  Operation call;          // without buffers; of a v-variant, the even call of blocks of mean length
  bool all_roots = false;  // another root at each call
  bool in_place = false;
  bool uneven = false;  // a v-variant
  double skew = 1;      // block 0 is so many times as long as the mean
};

std::string name_of(const Case& what);  // "all_to_all_v"

// Elements of each rank's block; together as many as of the even call.
std::vector<std::uint64_t> block_lengths(const Case& what, int ranks);
// Elements that `rank` reads and writes.
std::uint64_t input_count(const Case& what, int rank, int ranks);
std::uint64_t output_count(const Case& what, int rank, int ranks);

// The call with the count that `bytes` means (at least one element), as nccl-tests counts bytes.
Operation sized(Operation call, std::uint64_t bytes, int ranks);

}  // namespace weft::bench
