// Operation: one collective call as a value. Communicator::run, start, prepare and explain all take one.
//
// `count` is in elements and per rank: the input of all_gather, gather, broadcast, all_reduce and reduce; the output of
// reduce_scatter and scatter; in all_to_all the block for each peer. So all_gather writes size * count elements and
// all_to_all reads and writes size * count. Buffers must not overlap unless they are used in place:
//   all_reduce, broadcast, reduce, all_to_all   out == in
//   all_gather, gather (root)                   in  == out + rank * count
//   reduce_scatter, scatter (root)              out == in  + rank * count
//
// The v-variants (all_gather_v, reduce_scatter_v, all_to_all_v, gather_v, scatter_v) are the same collectives with
// blocks of any size, also none: `uneven` is set and Blocks say how many elements each has and where it lies. In place,
// the own block lies where the other buffer has it; all_to_all_v is in place where in == out and both Blocks are equal.
#pragma once

#include <cstdint>
#include <string>

#include "weft/types.hpp"

namespace weft {

// A buffer of a v-variant: one block for each rank, in the order of the ranks. The arrays are read during the call that
// takes them (run, start, prepare) and not afterwards.
struct Blocks {
  const std::uint64_t* counts = nullptr;   // elements
  const std::uint64_t* offsets = nullptr;  // where they begin, in elements; null: one behind the other

  bool operator==(const Blocks&) const = default;
};

struct Operation {
  Collective collective = Collective::Barrier;
  DataType dtype = DataType::UInt8;
  ReduceOp op = ReduceOp::Sum;  // only where reduces(collective)
  int root = 0;                 // only where has_root(collective)
  // Elements, see above. If uneven: gather and scatter off the root: those of the own block; all_to_all: what all ranks
  // agree no block is longer than, for the choice of an algorithm, 0 if they do not know; else not read.
  std::uint64_t count = 0;
  const void* in = nullptr;  // may be null where this rank has no input (scatter and broadcast off the root)
  void* out = nullptr;       // may be null where this rank has no output (gather and reduce off the root)
  MemoryKind memory = MemoryKind::Host;
  void* stream = nullptr;                          // for device buffers: the stream the operation is ordered on
  Quantisation quantisation = Quantisation::None;  // all_reduce (sum, avg) and all_gather of floats of 16 and 32 bits
  bool uneven = false;                             // a v-variant
  Blocks in_blocks = {};                           // if uneven: reduce_scatter, all_to_all, scatter at the root
  Blocks out_blocks = {};                          // if uneven: all_gather, all_to_all, gather at the root

  bool operator==(const Operation&) const = default;
};

// The same calls by name. Without buffers they describe a call for prepare() and explain().
Operation all_reduce(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum);
Operation all_gather(const void* in, void* out, std::uint64_t count, DataType dtype);
Operation reduce_scatter(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum);
Operation all_to_all(const void* in, void* out, std::uint64_t count, DataType dtype);
Operation broadcast(const void* in, void* out, std::uint64_t count, DataType dtype, int root = 0);
Operation reduce(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum,
                 int root = 0);
Operation gather(const void* in, void* out, std::uint64_t count, DataType dtype, int root = 0);
Operation scatter(const void* in, void* out, std::uint64_t count, DataType dtype, int root = 0);
Operation barrier();
// All ranks give equal counts: `out_blocks.counts[r]` is what rank r puts in.
Operation all_gather_v(const void* in, void* out, const Blocks& out_blocks, DataType dtype);
// All ranks give equal counts: rank r gets the reduction of the blocks r.
Operation reduce_scatter_v(const void* in, const Blocks& in_blocks, void* out, DataType dtype,
                           ReduceOp op = ReduceOp::Sum);
// Rank r's in_blocks.counts[s] is rank s's out_blocks.counts[r]. `bound`: Operation::count.
Operation all_to_all_v(const void* in, const Blocks& in_blocks, void* out, const Blocks& out_blocks, DataType dtype,
                       std::uint64_t bound = 0);
// `count` is what this rank puts in; the root's is out_blocks.counts[root].
Operation gather_v(const void* in, std::uint64_t count, void* out, const Blocks& out_blocks, DataType dtype,
                   int root = 0);
// `count` is what this rank gets; the root's is in_blocks.counts[root].
Operation scatter_v(const void* in, const Blocks& in_blocks, void* out, std::uint64_t count, DataType dtype,
                    int root = 0);
Operation all_reduce(std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum);
Operation all_gather(std::uint64_t count, DataType dtype);
Operation reduce_scatter(std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum);
Operation all_to_all(std::uint64_t count, DataType dtype);

// The same call, its numbers quantised on their way: for links that are slow. Once where they come from and, in
// all_reduce, once more as the result, never between. All ranks must quantise alike and hold the same bits.
Operation quantised(Operation operation, Quantisation quantisation);

// "all_gather", "all_gather_v".
std::string name_of(const Operation& operation);

// What all ranks know of the counts: Operation::count; of the v-variants all_gather and reduce_scatter the mean block,
// rounded up, of all_to_all its bound, of gather and scatter 0.
std::uint64_t agreed_count(const Operation& operation, int size);

// Elements from the start of a buffer to the end of its last block that is not empty.
std::uint64_t extent_of(const Blocks& blocks, int size);

// Elements that rank `rank` of `size` reads from `in` and writes to `out`, with the gaps between blocks; 0 where it has
// no such buffer.
std::uint64_t input_count(const Operation& operation, int rank, int size);
std::uint64_t output_count(const Operation& operation, int rank, int size);

// The size nccl-tests prints: the whole buffer, i.e. size * count elements for all_gather, reduce_scatter, all_to_all,
// gather and scatter, else count elements; in bytes. Of agreed_count().
std::uint64_t message_bytes(const Operation& operation, int size);

}  // namespace weft
