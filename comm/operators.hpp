// Operators: those that a program made for a communicator, by their handles.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "comm/kernels/kernels.hpp"
#include "weft/operation.hpp"
#include "weft/operator.hpp"
#include "weft/status.hpp"

namespace weft::comm {

// Its address stays put while the operator lives: plans have it.
struct UserOperator {
  Operator definition;
  bool pre_mul_sum = false;
  double factor = 1;  // of a pre_mul_sum

  // Whether only the canonical order of ranks will do.
  bool ordered() const { return !pre_mul_sum && !(definition.commutative && definition.associative); }
  // What all ranks must have alike.
  std::uint64_t hash() const;
  // The same for people: "'join' (does not commute, is associative)".
  std::string describe() const;
};

class Operators final {
 public:
  static constexpr int kMax = base::kMaxOperators;
  static constexpr int kHandles = base::kOperatorHandles;

  // InvalidArgument says what is wrong with it; ResourceExhausted if there are kMax. Handles are given in turn: that of
  // a destroyed operator comes again after kHandles - kMax others at the earliest, and finds none until then.
  Result<ReduceOp> create(const Operator& definition);
  Result<ReduceOp> create_pre_mul_sum(DataType dtype, double factor);
  Status destroy(ReduceOp op);

  // Null if there is none.
  const UserOperator* find(ReduceOp op) const;
  // Of a call that check_call() let pass: whether its operator exists and is of its type.
  Status check(const Operation& operation) const;
  std::uint64_t memory_bytes() const;

 private:
  Result<ReduceOp> add(UserOperator made);

  std::vector<std::unique_ptr<UserOperator>> made_;  // by handle; empty before the first
  int live_ = 0;
  int next_ = 0;  // where the search for a free handle begins
};

// The kernels of a user's operator take its address as their parameter.
ReduceKernel user_kernel();

// out[i] = in[i] * factor, rounded once to the type; `out` may be `in`. The type is no Bool and not opaque.
void multiply(void* out, const void* in, std::uint64_t count, DataType dtype, double factor);

}  // namespace weft::comm
