// The two tables of numbers, and the functions of C that need nothing else.
#include "comm/c_api/vocabulary.hpp"

#include <fmt/format.h>

#include <bit>

#include "comm/c_api/boundary.hpp"
#include "comm/operators.hpp"

namespace weft::comm::c_api {
namespace {

constexpr int kFirstOpaque = 192;
constexpr int kFirstMadeOp = 5;  // of NCCL, too

}  // namespace

weft_reduce_op_t to_c(ReduceOp made) {
  return static_cast<weft_reduce_op_t>(static_cast<int>(made) - kFirstUserOp + kFirstMadeOp);
}

weft_data_type_t to_c(DataType opaque) {
  return static_cast<weft_data_type_t>(kFirstOpaque + std::countr_zero(size_of(opaque)));
}

Result<DataType> to_cpp(weft_data_type_t datatype) {
  switch (datatype) {
    case WEFT_INT8:
      return DataType::Int8;
    case WEFT_UINT8:
      return DataType::UInt8;
    case WEFT_INT32:
      return DataType::Int32;
    case WEFT_UINT32:
      return DataType::UInt32;
    case WEFT_INT64:
      return DataType::Int64;
    case WEFT_UINT64:
      return DataType::UInt64;
    case WEFT_FLOAT16:
      return DataType::Float16;
    case WEFT_FLOAT32:
      return DataType::Float32;
    case WEFT_FLOAT64:
      return DataType::Float64;
    case WEFT_BFLOAT16:
      return DataType::BFloat16;
    case WEFT_FLOAT8_E4M3:
      return DataType::Float8E4M3;
    case WEFT_FLOAT8_E5M2:
      return DataType::Float8E5M2;
    case WEFT_BOOL:
      return DataType::Bool;
  }
  const int opaque = static_cast<int>(datatype) - kFirstOpaque;
  if (opaque >= 0 && opaque <= std::countr_zero(kMaxOpaqueBytes)) return *opaque_type(std::size_t{1} << opaque);
  return Status(
      Code::InvalidArgument,
      fmt::format("datatype {} is no weft_data_type_t; they are WEFT_INT8 (0) to WEFT_FLOAT8_E5M2 (11), as in "
                  "NCCL, WEFT_BOOL (128), and what weft_opaque_type() gives",
                  static_cast<int>(datatype)));
}

Result<ReduceOp> to_cpp(weft_reduce_op_t op) {
  switch (op) {
    case WEFT_SUM:
      return ReduceOp::Sum;
    case WEFT_PROD:
      return ReduceOp::Prod;
    case WEFT_MAX:
      return ReduceOp::Max;
    case WEFT_MIN:
      return ReduceOp::Min;
    case WEFT_AVG:
      return ReduceOp::Avg;
    case WEFT_BIT_AND:
      return ReduceOp::BitAnd;
    case WEFT_BIT_OR:
      return ReduceOp::BitOr;
    case WEFT_BIT_XOR:
      return ReduceOp::BitXor;
  }
  const int made = static_cast<int>(op) - kFirstMadeOp;
  if (made >= 0 && made < Operators::kHandles) return static_cast<ReduceOp>(kFirstUserOp + made);
  return Status(Code::InvalidArgument,
                fmt::format("op {} is no weft_reduce_op_t; they are WEFT_SUM (0) to WEFT_AVG (4), as in NCCL, and "
                            "WEFT_BIT_AND (-1), _OR (-2) and _XOR (-3); operators are made by weft_red_op_create()",
                            static_cast<int>(op)));
}

Result<Quantisation> to_cpp(weft_quantisation_t quantisation) {
  switch (quantisation) {
    case WEFT_QUANTISE_NONE:
      return Quantisation::None;
    case WEFT_QUANTISE_INT8:
      return Quantisation::Int8;
    case WEFT_QUANTISE_E4M3:
      return Quantisation::Float8E4M3;
  }
  return Status(Code::InvalidArgument,
                fmt::format("quantisation {} is no weft_quantisation_t; they are WEFT_QUANTISE_NONE (0), _INT8 (1) and "
                            "_E4M3 (2)",
                            static_cast<int>(quantisation)));
}

}  // namespace weft::comm::c_api

using namespace weft::comm::c_api;

weft_status_t weft_data_type_size(weft_data_type_t datatype, size_t* bytes) {
  return at_boundary("weft_data_type_size", nullptr, [&]() -> weft::Status {
    if (bytes == nullptr) return null_argument("bytes", "pass the address of a size_t");
    WEFT_TRY_ASSIGN(const weft::DataType dtype, to_cpp(datatype));
    *bytes = weft::size_of(dtype);
    return {};
  });
}

weft_status_t weft_get_version(int* version) {
  return at_boundary("weft_get_version", nullptr, [&]() -> weft::Status {
    if (version == nullptr) return null_argument("version", "pass the address of an int");
    *version = WEFT_VERSION_CODE;
    return {};
  });
}
