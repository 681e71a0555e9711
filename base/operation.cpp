// Operation: the calls by name, and how many elements each rank reads and writes.
#include "weft/operation.hpp"

#include <algorithm>
#include <cstddef>

#include "base/assert.hpp"

namespace weft {
namespace {

Operation call(Collective collective, const void* in, void* out, std::uint64_t count, DataType dtype) {
  Operation operation;
  operation.collective = collective;
  operation.dtype = dtype;
  operation.count = count;
  operation.in = in;
  operation.out = out;
  return operation;
}

Operation reducing(Operation operation, ReduceOp op) {
  operation.op = op;
  return operation;
}

Operation rooted(Operation operation, int root) {
  operation.root = root;
  return operation;
}

Operation uneven(Operation operation, const Blocks& in_blocks, const Blocks& out_blocks) {
  operation.uneven = true;
  operation.in_blocks = in_blocks;
  operation.out_blocks = out_blocks;
  return operation;
}

std::uint64_t mean_count(const Blocks& blocks, int size) {
  std::uint64_t all = 0;
  for (int rank = 0; rank < size; ++rank) all += blocks.counts[rank];
  const auto ranks = static_cast<std::uint64_t>(size);
  return (all + ranks - 1) / ranks;
}

// The elements of a rank's own block, wherever it is told.
std::uint64_t own_count(const Operation& operation, int rank) {
  if (!operation.uneven) return operation.count;
  const bool at_root = rank == operation.root;
  switch (operation.collective) {
    case Collective::AllGather:
      return operation.out_blocks.counts[rank];
    case Collective::ReduceScatter:
      return operation.in_blocks.counts[rank];
    case Collective::Gather:
      return at_root ? operation.out_blocks.counts[rank] : operation.count;
    case Collective::Scatter:
      return at_root ? operation.in_blocks.counts[rank] : operation.count;
    default:
      return operation.count;
  }
}

std::uint64_t all_blocks(const Operation& operation, const Blocks& blocks, int size) {
  return operation.uneven ? extent_of(blocks, size) : operation.count * static_cast<std::uint64_t>(size);
}

}  // namespace

Operation all_reduce(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op) {
  return reducing(call(Collective::AllReduce, in, out, count, dtype), op);
}
Operation all_gather(const void* in, void* out, std::uint64_t count, DataType dtype) {
  return call(Collective::AllGather, in, out, count, dtype);
}
Operation reduce_scatter(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op) {
  return reducing(call(Collective::ReduceScatter, in, out, count, dtype), op);
}
Operation all_to_all(const void* in, void* out, std::uint64_t count, DataType dtype) {
  return call(Collective::AllToAll, in, out, count, dtype);
}
Operation broadcast(const void* in, void* out, std::uint64_t count, DataType dtype, int root) {
  return rooted(call(Collective::Broadcast, in, out, count, dtype), root);
}
Operation reduce(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op, int root) {
  return rooted(reducing(call(Collective::Reduce, in, out, count, dtype), op), root);
}
Operation gather(const void* in, void* out, std::uint64_t count, DataType dtype, int root) {
  return rooted(call(Collective::Gather, in, out, count, dtype), root);
}
Operation scatter(const void* in, void* out, std::uint64_t count, DataType dtype, int root) {
  return rooted(call(Collective::Scatter, in, out, count, dtype), root);
}
Operation barrier() { return Operation(); }
Operation all_gather_v(const void* in, void* out, const Blocks& out_blocks, DataType dtype) {
  return uneven(all_gather(in, out, 0, dtype), {}, out_blocks);
}
Operation reduce_scatter_v(const void* in, const Blocks& in_blocks, void* out, DataType dtype, ReduceOp op) {
  return uneven(reduce_scatter(in, out, 0, dtype, op), in_blocks, {});
}
Operation all_to_all_v(const void* in, const Blocks& in_blocks, void* out, const Blocks& out_blocks, DataType dtype,
                       std::uint64_t bound) {
  return uneven(all_to_all(in, out, bound, dtype), in_blocks, out_blocks);
}
Operation gather_v(const void* in, std::uint64_t count, void* out, const Blocks& out_blocks, DataType dtype, int root) {
  return uneven(gather(in, out, count, dtype, root), {}, out_blocks);
}
Operation scatter_v(const void* in, const Blocks& in_blocks, void* out, std::uint64_t count, DataType dtype, int root) {
  return uneven(scatter(in, out, count, dtype, root), in_blocks, {});
}

Operation all_reduce(std::uint64_t count, DataType dtype, ReduceOp op) {
  return all_reduce(nullptr, nullptr, count, dtype, op);
}
Operation all_gather(std::uint64_t count, DataType dtype) { return all_gather(nullptr, nullptr, count, dtype); }
Operation reduce_scatter(std::uint64_t count, DataType dtype, ReduceOp op) {
  return reduce_scatter(nullptr, nullptr, count, dtype, op);
}
Operation all_to_all(std::uint64_t count, DataType dtype) { return all_to_all(nullptr, nullptr, count, dtype); }

Operation quantised(Operation operation, Quantisation quantisation) {
  operation.quantisation = quantisation;
  return operation;
}

std::string name_of(const Operation& operation) {
  std::string name(to_string(operation.collective));
  if (operation.uneven) name += "_v";
  return name;
}

std::uint64_t agreed_count(const Operation& operation, int size) {
  if (!operation.uneven || operation.collective == Collective::AllToAll) return operation.count;
  if (operation.collective == Collective::AllGather) return mean_count(operation.out_blocks, size);
  if (operation.collective == Collective::ReduceScatter) return mean_count(operation.in_blocks, size);
  return 0;
}

std::uint64_t extent_of(const Blocks& blocks, int size) {
  std::uint64_t end = 0;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(size); ++rank) {
    const std::uint64_t count = blocks.counts[rank];
    if (count > 0) end = blocks.offsets == nullptr ? end + count : std::max(end, blocks.offsets[rank] + count);
  }
  return end;
}

std::uint64_t input_count(const Operation& operation, int rank, int size) {
  WEFT_ASSERT(rank >= 0 && rank < size);
  switch (operation.collective) {
    case Collective::AllReduce:
    case Collective::AllGather:
    case Collective::Reduce:
    case Collective::Gather:
      return own_count(operation, rank);
    case Collective::ReduceScatter:
    case Collective::AllToAll:
      return all_blocks(operation, operation.in_blocks, size);
    case Collective::Broadcast:
      return rank == operation.root ? operation.count : 0;
    case Collective::Scatter:
      return rank == operation.root ? all_blocks(operation, operation.in_blocks, size) : 0;
    case Collective::Barrier:
      break;
  }
  return 0;
}

std::uint64_t output_count(const Operation& operation, int rank, int size) {
  WEFT_ASSERT(rank >= 0 && rank < size);
  switch (operation.collective) {
    case Collective::AllReduce:
    case Collective::ReduceScatter:
    case Collective::Broadcast:
    case Collective::Scatter:
      return own_count(operation, rank);
    case Collective::AllGather:
    case Collective::AllToAll:
      return all_blocks(operation, operation.out_blocks, size);
    case Collective::Reduce:
      return rank == operation.root ? operation.count : 0;
    case Collective::Gather:
      return rank == operation.root ? all_blocks(operation, operation.out_blocks, size) : 0;
    case Collective::Barrier:
      break;
  }
  return 0;
}

std::uint64_t message_bytes(const Operation& operation, int size) {
  const std::uint64_t bytes = agreed_count(operation, size) * size_of(operation.dtype);
  switch (operation.collective) {
    case Collective::AllGather:
    case Collective::ReduceScatter:
    case Collective::AllToAll:
    case Collective::Gather:
    case Collective::Scatter:
      return bytes * static_cast<std::uint64_t>(size);
    case Collective::AllReduce:
    case Collective::Broadcast:
    case Collective::Reduce:
      return bytes;
    case Collective::Barrier:
      break;
  }
  return 0;
}

}  // namespace weft
