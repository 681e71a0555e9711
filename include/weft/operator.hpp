// Operators that a program makes for a communicator: Communicator::create_operator(), create_pre_mul_sum().
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "weft/types.hpp"

namespace weft {

// An element of so many bytes of which only the program knows what is in them, e.g. a struct: a power of two up to
// kMaxOpaqueBytes; nothing for others (pad the struct). Collectives that reduce take it with an operator made for it,
// the others as any type.
inline constexpr std::size_t kMaxOpaqueBytes = 4096;
std::optional<DataType> opaque_type(std::size_t bytes);
bool is_opaque(DataType dtype);

// A reduction of two elements. Elements are where the arrays say, aligned to nothing.
struct Operator {
  // result[i] = a[i] op b[i] for `count` elements. `a` is of lower ranks than `b` unless the operator is commutative.
  // `result` is `a`, is `b`, or overlaps neither. Called on threads that drive operations, several times for one, with
  // any count; must not throw, nor call the communicator.
  using Combine = void (*)(void* context, void* result, const void* a, const void* b, std::size_t count);

  std::string name;                  // in messages; equal on all ranks
  DataType dtype = DataType::UInt8;  // of its elements
  Combine combine = nullptr;
  void* context = nullptr;  // what combine gets; lives as long as the operator
  // Promises. Of both: any algorithm runs it. Else one that follows the tree of Numerics::Invariant over the ranks
  // (docs/numerics.md), and the operands keep the order of the ranks. Two ranks must make the same promises.
  bool commutative = false;  // a op b has the same bits as b op a
  bool associative = true;   // brackets may be placed anywhere
};

}  // namespace weft
