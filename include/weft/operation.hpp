// Operation: one collective call as a value. Communicator::run, start, prepare and explain all take one.
//
// `count` is in elements and per rank: the input of all_gather, gather, broadcast, all_reduce and reduce; the output of
// reduce_scatter and scatter; in all_to_all the block for each peer. So all_gather writes size * count elements and
// all_to_all reads and writes size * count. Buffers must not overlap unless they are used in place:
//   all_reduce, broadcast, reduce, all_to_all   out == in
//   all_gather, gather (root)                   in  == out + rank * count
//   reduce_scatter, scatter (root)              out == in  + rank * count
#pragma once

#include <cstdint>

#include "weft/types.hpp"

namespace weft {

struct Operation {
  Collective collective = Collective::Barrier;
  DataType dtype = DataType::UInt8;
  ReduceOp op = ReduceOp::Sum;  // only where reduces(collective)
  int root = 0;                 // only where has_root(collective)
  std::uint64_t count = 0;      // elements, see above
  const void* in = nullptr;     // may be null where this rank has no input (scatter and broadcast off the root)
  void* out = nullptr;          // may be null where this rank has no output (gather and reduce off the root)
  MemoryKind memory = MemoryKind::Host;
  void* stream = nullptr;  // for device buffers: the stream the operation is ordered on

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
Operation all_reduce(std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum);
Operation all_gather(std::uint64_t count, DataType dtype);
Operation reduce_scatter(std::uint64_t count, DataType dtype, ReduceOp op = ReduceOp::Sum);
Operation all_to_all(std::uint64_t count, DataType dtype);

// Elements that rank `rank` of `size` reads from `in` and writes to `out`; 0 where it has no such buffer.
std::uint64_t input_count(const Operation& operation, int rank, int size);
std::uint64_t output_count(const Operation& operation, int rank, int size);

// The size nccl-tests prints: the whole buffer, i.e. size * count elements for all_gather, reduce_scatter, all_to_all,
// gather and scatter, else count elements; in bytes.
std::uint64_t message_bytes(const Operation& operation, int size);

}  // namespace weft
