// Operators of C: pre_mul_sum as in NCCL, and those whose arithmetic the caller brings.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "comm/c_api/boundary.hpp"
#include "comm/c_api/vocabulary.hpp"
#include "weft/operator.hpp"

namespace weft::comm::c_api {
namespace {

template <typename T>
T read(const void* scalar) {
  T value;
  std::memcpy(&value, scalar, sizeof value);
  return value;
}

// How a float of 8 or 16 bits is made up behind its sign.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // else the largest exponent is an ordinary one, but for one NaN
};

double decode(std::uint32_t bits, const Format& format) {
  const int magnitude = static_cast<int>(bits) & ((1 << (format.exponent_bits + format.mantissa_bits)) - 1);
  const int largest = (1 << format.exponent_bits) - 1;
  const int exponent = magnitude >> format.mantissa_bits;
  const int mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
  const bool nan = format.has_infinity ? exponent == largest && mantissa != 0
                                       : magnitude == (1 << (format.exponent_bits + format.mantissa_bits)) - 1;
  if (nan) return std::numeric_limits<double>::quiet_NaN();
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int significand = mantissa + (exponent == 0 ? 0 : 1 << format.mantissa_bits);
  double value = std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias - format.mantissa_bits);
  if (format.has_infinity && exponent == largest) value = std::numeric_limits<double>::infinity();
  return (bits >> (format.exponent_bits + format.mantissa_bits)) != 0 ? -value : value;
}

template <typename T>
Result<double> whole(const void* scalar) {
  const T value = read<T>(scalar);
  const auto factor = static_cast<double>(value);
  constexpr double kExact = 9007199254740992;  // 2^53
  if (factor < kExact && factor > -kExact) return factor;
  return Status(Code::InvalidArgument, fmt::format("the scalar {} is beyond 2^53; give a smaller one", value));
}

Result<double> read_scalar(const void* scalar, DataType dtype) {
  switch (dtype) {
    case DataType::Int8:
      return whole<std::int8_t>(scalar);
    case DataType::UInt8:
      return whole<std::uint8_t>(scalar);
    case DataType::Int32:
      return whole<std::int32_t>(scalar);
    case DataType::UInt32:
      return whole<std::uint32_t>(scalar);
    case DataType::Int64:
      return whole<std::int64_t>(scalar);
    case DataType::UInt64:
      return whole<std::uint64_t>(scalar);
    case DataType::Float16:
      return decode(read<std::uint16_t>(scalar), {5, 10, true});
    case DataType::BFloat16:
      return decode(read<std::uint16_t>(scalar), {8, 7, true});
    case DataType::Float8E4M3:
      return decode(read<std::uint8_t>(scalar), {4, 3, false});
    case DataType::Float8E5M2:
      return decode(read<std::uint8_t>(scalar), {5, 2, true});
    case DataType::Float32:
      return static_cast<double>(read<float>(scalar));
    case DataType::Float64:
      return read<double>(scalar);
    default:
      return 1.0;  // of types that cannot be multiplied, which is said later
  }
}

Status create_pre_mul_sum(weft_comm& comm, weft_reduce_op_t* op, const void* scalar, weft_data_type_t datatype,
                          weft_scalar_residence_t residence) {
  if (op == nullptr) return null_argument("op", "pass the address of a weft_reduce_op_t");
  if (scalar == nullptr) return null_argument("scalar", "pass the address of one element");
  if (residence != WEFT_SCALAR_HOST_IMMEDIATE) {
    return Status(residence == WEFT_SCALAR_DEVICE ? Code::Unsupported : Code::InvalidArgument,
                  fmt::format("residence is {}; give WEFT_SCALAR_HOST_IMMEDIATE (1), with a scalar in host memory",
                              static_cast<int>(residence)));
  }
  WEFT_TRY_ASSIGN(const DataType dtype, to_cpp(datatype));
  WEFT_TRY_ASSIGN(const double factor, read_scalar(scalar, dtype));
  WEFT_TRY_ASSIGN(const ReduceOp made, comm.communicator.create_pre_mul_sum(dtype, factor));
  *op = to_c(made);
  return {};
}

}  // namespace
}  // namespace weft::comm::c_api

using namespace weft::comm::c_api;
using weft::Code;
using weft::Status;

weft_status_t weft_red_op_create_pre_mul_sum(weft_reduce_op_t* op, const void* scalar, weft_data_type_t datatype,
                                             weft_scalar_residence_t residence, weft_comm_t comm) {
  return with_comm("weft_red_op_create_pre_mul_sum", comm,
                   [&](weft_comm& known) { return create_pre_mul_sum(known, op, scalar, datatype, residence); });
}

weft_status_t weft_red_op_create(weft_reduce_op_t* op, const char* name, weft_combine_callback_t combine, void* context,
                                 weft_data_type_t datatype, unsigned properties, weft_comm_t comm) {
  return with_comm("weft_red_op_create", comm, [&](weft_comm& known) -> Status {
    if (op == nullptr) return null_argument("op", "pass the address of a weft_reduce_op_t");
    if (name == nullptr) return null_argument("name", "give the operator's name, equal on all ranks");
    if (combine == nullptr) return null_argument("combine", "give a function that combines elements");
    if ((properties & ~(WEFT_OP_COMMUTATIVE | WEFT_OP_ASSOCIATIVE)) != 0) {
      return Status(Code::InvalidArgument,
                    fmt::format("properties is {:#x}; give WEFT_OP_COMMUTATIVE (1), WEFT_OP_ASSOCIATIVE (2), both or 0",
                                properties));
    }
    WEFT_TRY_ASSIGN(const weft::DataType dtype, to_cpp(datatype));
    WEFT_TRY_ASSIGN(const weft::ReduceOp made,
                    known.communicator.create_operator({.name = name,
                                                        .dtype = dtype,
                                                        .combine = combine,
                                                        .context = context,
                                                        .commutative = (properties & WEFT_OP_COMMUTATIVE) != 0,
                                                        .associative = (properties & WEFT_OP_ASSOCIATIVE) != 0}));
    *op = to_c(made);
    return {};
  });
}

weft_status_t weft_red_op_destroy(weft_reduce_op_t op, weft_comm_t comm) {
  return with_comm("weft_red_op_destroy", comm, [&](weft_comm& known) -> Status {
    WEFT_TRY_ASSIGN(const weft::ReduceOp made, to_cpp(op));
    return known.communicator.destroy_operator(made);
  });
}

weft_status_t weft_opaque_type(size_t bytes, weft_data_type_t* datatype) {
  return at_boundary("weft_opaque_type", nullptr, [&]() -> Status {
    if (datatype == nullptr) return null_argument("datatype", "pass the address of a weft_data_type_t");
    const auto type = weft::opaque_type(bytes);
    if (!type) {
      return Status(Code::InvalidArgument,
                    fmt::format("bytes is {}; give a power of two up to {}, and pad the struct to it", bytes,
                                weft::kMaxOpaqueBytes));
    }
    *datatype = to_c(*type);
    return {};
  });
}
