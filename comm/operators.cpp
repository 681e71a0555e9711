// Checks what a program defines, and keeps it.
#include "comm/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/fnv1a.hpp"
#include "base/heap_bytes.hpp"

namespace weft::comm {
namespace {

constexpr std::size_t kMaxName = 64;

bool known(DataType dtype) { return static_cast<int>(dtype) < kDataTypes || is_opaque(dtype); }

static_assert(Operators::kMax < Operators::kHandles && kFirstUserOp + Operators::kHandles <= 256);

ReduceOp handle(int index) { return static_cast<ReduceOp>(kFirstUserOp + index); }

// Whole numbers that the type holds; of 64 bits, those that a factor tells exactly.
struct Range {
  double least = 0;
  double most = 0;
};

template <typename T>
Range range_of() {
  constexpr double kExact = 9007199254740992;  // 2^53
  return {std::max(static_cast<double>(std::numeric_limits<T>::min()), -kExact),
          std::min(static_cast<double>(std::numeric_limits<T>::max()), kExact)};
}

std::optional<Range> range_of(DataType dtype) {
  switch (dtype) {
    case DataType::Int8:
      return range_of<std::int8_t>();
    case DataType::UInt8:
      return range_of<std::uint8_t>();
    case DataType::Int32:
      return range_of<std::int32_t>();
    case DataType::UInt32:
      return range_of<std::uint32_t>();
    case DataType::Int64:
      return range_of<std::int64_t>();
    case DataType::UInt64:
      return range_of<std::uint64_t>();
    default:
      return std::nullopt;
  }
}

// Integers are multiplied as integers.
Status check_factor(DataType dtype, double factor) {
  const std::optional<Range> range = range_of(dtype);
  if (!range) return {};
  if (std::trunc(factor) == factor && factor >= range->least && factor <= range->most) return {};
  return Status(Code::InvalidArgument,
                fmt::format("create_pre_mul_sum: the factor {} is no {}; give a whole number from {:.0f} to {:.0f}",
                            factor, to_string(dtype), range->least, range->most));
}

void combine(void* dst, const void* a, const void* b, std::size_t count, std::intptr_t parameter) noexcept {
  const auto& made = *reinterpret_cast<const UserOperator*>(parameter);
  made.definition.combine(made.definition.context, dst, a, b, count);
}

}  // namespace

std::uint64_t UserOperator::hash() const {
  if (pre_mul_sum) return base::fnv1a("pre_mul_sum");
  return base::fnv1a(fmt::format("{} {} {} {}", definition.name, static_cast<int>(definition.dtype),
                                 definition.commutative, definition.associative));
}

std::string UserOperator::describe() const {
  if (pre_mul_sum) return std::string(to_string(ReduceOp::PreMulSum));
  return fmt::format("'{}' ({}, {})", definition.name, definition.commutative ? "commutes" : "does not commute",
                     definition.associative ? "is associative" : "is not associative");
}

Result<ReduceOp> Operators::create(const Operator& definition) {
  if (definition.combine == nullptr)
    return Status(Code::InvalidArgument, "create_operator: combine is null; give a function that combines elements");
  if (definition.name.empty() || definition.name.size() > kMaxName)
    return Status(Code::InvalidArgument,
                  fmt::format("create_operator: give it a name of 1 to {} characters, equal on all ranks", kMaxName));
  if (!known(definition.dtype)) return Status(Code::InvalidArgument, "create_operator: no such data type");
  return add({.definition = definition});
}

Result<ReduceOp> Operators::create_pre_mul_sum(DataType dtype, double factor) {
  if (!known(dtype)) return Status(Code::InvalidArgument, "create_pre_mul_sum: no such data type");
  if (is_opaque(dtype) || dtype == DataType::Bool) {
    return Status(Code::InvalidArgument,
                  fmt::format("create_pre_mul_sum: {} cannot be multiplied; give a type of numbers", to_string(dtype)));
  }
  WEFT_TRY(check_factor(dtype, factor));
  UserOperator made{.definition = {}, .pre_mul_sum = true, .factor = factor};
  made.definition.name = to_string(ReduceOp::PreMulSum);
  made.definition.dtype = dtype;
  return add(std::move(made));
}

Result<ReduceOp> Operators::add(UserOperator made) {
  if (live_ == kMax) {
    return Status(
        Code::ResourceExhausted,
        fmt::format("a communicator has at most {} operators; destroy those that are no longer needed", kMax));
  }
  made_.resize(kHandles);
  while (find(handle(next_)) != nullptr) next_ = (next_ + 1) % kHandles;
  const ReduceOp given = handle(next_);
  made_[static_cast<std::size_t>(next_)] = std::make_unique<UserOperator>(std::move(made));
  next_ = (next_ + 1) % kHandles;
  ++live_;
  return given;
}

const UserOperator* Operators::find(ReduceOp op) const {
  const int index = static_cast<int>(op) - kFirstUserOp;
  return index >= 0 && index < static_cast<int>(made_.size()) ? made_[static_cast<std::size_t>(index)].get() : nullptr;
}

Status Operators::destroy(ReduceOp op) {
  if (find(op) == nullptr)
    return Status(Code::InvalidArgument, "destroy_operator: this communicator has no such operator");
  made_[static_cast<std::size_t>(static_cast<int>(op) - kFirstUserOp)].reset();
  --live_;
  return {};
}

Status Operators::check(const Operation& operation) const {
  if (!reduces(operation.collective) || static_cast<int>(operation.op) < kFirstUserOp) return {};
  const UserOperator* const made = find(operation.op);
  if (made == nullptr) {
    return Status(Code::InvalidArgument,
                  name_of(operation) +
                      ": this communicator has no such operator, or no longer; operators belong to "
                      "the communicator that made them");
  }
  if (made->definition.dtype == operation.dtype) return {};
  return Status(Code::InvalidArgument,
                fmt::format("{}: the operator {} was made for {}, not for {}", name_of(operation),
                            made->definition.name, to_string(made->definition.dtype), to_string(operation.dtype)));
}

std::uint64_t Operators::memory_bytes() const {
  std::uint64_t bytes = base::heap_bytes(made_);
  for (const auto& made : made_)
    if (made != nullptr) bytes += sizeof(UserOperator) + base::heap_bytes(made->definition.name);
  return bytes;
}

ReduceKernel user_kernel() { return &combine; }

}  // namespace weft::comm
