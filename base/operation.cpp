// Operation: the calls by name, and how many elements each rank reads and writes.
#include "weft/operation.hpp"

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

Operation all_reduce(std::uint64_t count, DataType dtype, ReduceOp op) {
  return all_reduce(nullptr, nullptr, count, dtype, op);
}
Operation all_gather(std::uint64_t count, DataType dtype) { return all_gather(nullptr, nullptr, count, dtype); }
Operation reduce_scatter(std::uint64_t count, DataType dtype, ReduceOp op) {
  return reduce_scatter(nullptr, nullptr, count, dtype, op);
}
Operation all_to_all(std::uint64_t count, DataType dtype) { return all_to_all(nullptr, nullptr, count, dtype); }

std::uint64_t input_count(const Operation& operation, int rank, int size) {
  WEFT_ASSERT(rank >= 0 && rank < size);
  const std::uint64_t whole = operation.count * static_cast<std::uint64_t>(size);
  switch (operation.collective) {
    case Collective::AllReduce:
    case Collective::AllGather:
    case Collective::Reduce:
    case Collective::Gather:
      return operation.count;
    case Collective::ReduceScatter:
    case Collective::AllToAll:
      return whole;
    case Collective::Broadcast:
      return rank == operation.root ? operation.count : 0;
    case Collective::Scatter:
      return rank == operation.root ? whole : 0;
    case Collective::Barrier:
      break;
  }
  return 0;
}

std::uint64_t output_count(const Operation& operation, int rank, int size) {
  WEFT_ASSERT(rank >= 0 && rank < size);
  const std::uint64_t whole = operation.count * static_cast<std::uint64_t>(size);
  switch (operation.collective) {
    case Collective::AllReduce:
    case Collective::ReduceScatter:
    case Collective::Broadcast:
    case Collective::Scatter:
      return operation.count;
    case Collective::AllGather:
    case Collective::AllToAll:
      return whole;
    case Collective::Reduce:
      return rank == operation.root ? operation.count : 0;
    case Collective::Gather:
      return rank == operation.root ? whole : 0;
    case Collective::Barrier:
      break;
  }
  return 0;
}

std::uint64_t message_bytes(const Operation& operation, int size) {
  const std::uint64_t bytes = operation.count * size_of(operation.dtype);
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
