// The checks in the order in which a caller can mend them, each with its words.
#include "comm/check.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "comm/blocks.hpp"
#include "weft/operator.hpp"

namespace weft::comm {
namespace {

// Offsets are kept in 48 bits.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 47;

// Where the input begins relative to the output when they are used in place.
std::ptrdiff_t in_place_offset(const Operation& operation, int rank, int size) {
  const std::uint64_t elements =
      operation.uneven ? own_block_offset(operation, rank, size) : operation.count * static_cast<std::uint64_t>(rank);
  const auto own = static_cast<std::ptrdiff_t>(elements * size_of(operation.dtype));
  switch (operation.collective) {
    case Collective::AllGather:
    case Collective::Gather:
      return own;
    case Collective::ReduceScatter:
    case Collective::Scatter:
      return -own;
    default:
      return 0;
  }
}

bool may_be_in_place(const Operation& operation, int rank, int size) {
  if (has_root(operation.collective) && operation.root != rank) return false;
  return operation.uneven ? may_share_memory(operation, rank, size) : operation.count > 0;
}

Status bad(const Operation& operation, std::string text) {
  return Status(Code::InvalidArgument, fmt::format("{}: {}", name_of(operation), text));
}

Status check_quantisation(const Operation& operation) {
  if (static_cast<unsigned>(operation.quantisation) >= kQuantisations) return bad(operation, "no such quantisation");
  if (operation.uneven ||
      (operation.collective != Collective::AllReduce && operation.collective != Collective::AllGather))
    return bad(operation, "only all_reduce and all_gather can be quantised; call this one without");
  if (operation.dtype != DataType::Float32 && operation.dtype != DataType::Float16 &&
      operation.dtype != DataType::BFloat16) {
    return bad(operation,
               fmt::format("{} cannot be quantised; float32, float16 and bfloat16 can", to_string(operation.dtype)));
  }
  if (reduces(operation.collective) && operation.op != ReduceOp::Sum && operation.op != ReduceOp::Avg) {
    return bad(operation,
               fmt::format("{} of quantised numbers is not defined; sum and avg are", to_string(operation.op)));
  }
  return {};
}

}  // namespace

Status check_call(const Operation& operation, int rank, int size) {
  if (static_cast<unsigned>(operation.collective) >= kCollectives)
    return Status(Code::InvalidArgument, "no such collective");
  if (static_cast<unsigned>(operation.dtype) >= kDataTypes && !is_opaque(operation.dtype))
    return bad(operation, "no such data type");
  if (operation.memory != MemoryKind::Host || operation.stream != nullptr) {
    return Status(Code::Unsupported,
                  fmt::format("{}: device buffers and streams need a build with CUDA and NCCL, which this is not; "
                              "copy to host memory first",
                              to_string(operation.collective)));
  }
  // Of operators that the program made the communicator knows.
  if (reduces(operation.collective) && operation.op < ReduceOp::PreMulSum && !valid(operation.dtype, operation.op)) {
    return bad(operation, fmt::format("{} is not defined for {}", to_string(operation.op), to_string(operation.dtype)));
  }
  if (operation.quantisation != Quantisation::None) WEFT_TRY(check_quantisation(operation));
  if (has_root(operation.collective) && (operation.root < 0 || operation.root >= size)) {
    return bad(operation, fmt::format("root {} is not a rank of this communicator of {}", operation.root, size));
  }
  if (operation.collective == Collective::Barrier && operation.count != 0) return bad(operation, "count must be 0");
  if (operation.uneven) return check_blocks(operation, rank, size, kMaxBytes / size_of(operation.dtype));
  const std::uint64_t limit = kMaxBytes / size_of(operation.dtype) / static_cast<std::uint64_t>(size);
  if (operation.count > limit) {
    return bad(operation, fmt::format("count {} is more than the {} elements that {} ranks can handle", operation.count,
                                      limit, size));
  }
  return {};
}

Status check(const Operation& operation, int rank, int size) {
  WEFT_TRY(check_call(operation, rank, size));
  const Footprint needs = footprint(operation, rank, size);
  if (needs.fits(operation.in, operation.out)) return {};
  if (needs.in_bytes > 0 && operation.in == nullptr)
    return bad(operation, fmt::format("in is null but rank {} has {} bytes to give", rank, needs.in_bytes));
  if (needs.out_bytes > 0 && operation.out == nullptr)
    return bad(operation, fmt::format("out is null but rank {} receives {} bytes", rank, needs.out_bytes));
  return bad(operation, "the buffers overlap but are not in place; weft/operation.hpp says how in and out must lie");
}

Footprint footprint(const Operation& operation, int rank, int size) {
  const std::uint64_t element = size_of(operation.dtype);
  Footprint needs;
  needs.in_bytes = input_count(operation, rank, size) * element;
  needs.out_bytes = output_count(operation, rank, size) * element;
  needs.may_be_in_place = may_be_in_place(operation, rank, size);
  needs.in_place_offset = in_place_offset(operation, rank, size);
  return needs;
}

}  // namespace weft::comm
