// The vocabulary's names and properties: one row per type, operator and collective, read in both directions.
#include "weft/types.hpp"

#include <array>
#include <bit>
#include <span>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "weft/operator.hpp"

namespace weft {
namespace {

struct Name {
  std::string_view text;
  int value;
};

constexpr std::array<std::string_view, kCollectives> kCollectiveNames = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather", "scatter", "barrier"};
constexpr std::array<std::string_view, kDataTypes> kDataTypeNames = {
    "int8",        "uint8",   "int32",    "uint32",  "int64",   "uint64", "float8_e4m3",
    "float8_e5m2", "float16", "bfloat16", "float32", "float64", "bool"};
constexpr std::array<std::string_view, kReduceOps> kReduceOpNames = {"sum", "prod",    "min",    "max",
                                                                     "avg", "bit_and", "bit_or", "bit_xor"};

constexpr std::array<std::string_view, kQuantisations> kQuantisationNames = {"none", "int8", "e4m3"};

constexpr std::array<std::size_t, kDataTypes> kDataTypeBytes = {1, 1, 4, 4, 8, 8, 1, 1, 2, 2, 4, 8, 1};

// Opaque types are named by numbers of their own: the logarithm of their size behind this.
constexpr int kFirstOpaque = 64;
constexpr std::array<std::string_view, 13> kOpaqueNames = {"bytes1",    "bytes2",    "bytes4",   "bytes8",   "bytes16",
                                                           "bytes32",   "bytes64",   "bytes128", "bytes256", "bytes512",
                                                           "bytes1024", "bytes2048", "bytes4096"};
static_assert(std::size_t{1} << (kOpaqueNames.size() - 1) == kMaxOpaqueBytes);

constexpr int value_of(DataType dtype) { return static_cast<int>(dtype); }
constexpr int value_of(ReduceOp op) { return static_cast<int>(op); }
constexpr int value_of(Collective collective) { return static_cast<int>(collective); }

// Spellings of nccl-tests and MPI, and collectives written in one word.
constexpr std::array kOtherCollectives = {
    Name{"allreduce", value_of(Collective::AllReduce)},
    Name{"allgather", value_of(Collective::AllGather)},
    Name{"reducescatter", value_of(Collective::ReduceScatter)},
    Name{"alltoall", value_of(Collective::AllToAll)},
    Name{"bcast", value_of(Collective::Broadcast)},
};
constexpr std::array kOtherDataTypes = {Name{"i8", value_of(DataType::Int8)},
                                        Name{"u8", value_of(DataType::UInt8)},
                                        Name{"i32", value_of(DataType::Int32)},
                                        Name{"u32", value_of(DataType::UInt32)},
                                        Name{"i64", value_of(DataType::Int64)},
                                        Name{"u64", value_of(DataType::UInt64)},
                                        Name{"f16", value_of(DataType::Float16)},
                                        Name{"bf16", value_of(DataType::BFloat16)},
                                        Name{"f32", value_of(DataType::Float32)},
                                        Name{"f64", value_of(DataType::Float64)},
                                        Name{"f8e4m3", value_of(DataType::Float8E4M3)},
                                        Name{"f8e5m2", value_of(DataType::Float8E5M2)},
                                        Name{"float8_e4m3fn", value_of(DataType::Float8E4M3)},
                                        Name{"half", value_of(DataType::Float16)},
                                        Name{"float", value_of(DataType::Float32)},
                                        Name{"double", value_of(DataType::Float64)}};
constexpr std::array kOtherReduceOps = {Name{"band", value_of(ReduceOp::BitAnd)},
                                        Name{"bor", value_of(ReduceOp::BitOr)},
                                        Name{"bxor", value_of(ReduceOp::BitXor)}};

template <typename Enum>
std::optional<Enum> find(std::string_view text, std::span<const std::string_view> names, std::span<const Name> others) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  for (const Name& other : others)
    if (other.text == text) return static_cast<Enum>(other.value);
  return std::nullopt;
}

// A value that came out of a cast, e.g. from another process, may name nothing; a message about it must still print.
std::string_view name_of(int value, std::span<const std::string_view> names) {
  return static_cast<std::size_t>(value) < names.size() ? names[static_cast<std::size_t>(value)] : "unknown";
}

// They stand together.
bool is_float(DataType dtype) { return dtype >= DataType::Float8E4M3 && dtype <= DataType::Float64; }

}  // namespace

std::optional<DataType> opaque_type(std::size_t bytes) {
  if (!std::has_single_bit(bytes) || bytes > kMaxOpaqueBytes) return std::nullopt;
  return static_cast<DataType>(kFirstOpaque + std::countr_zero(bytes));
}

bool is_opaque(DataType dtype) {
  return value_of(dtype) >= kFirstOpaque && value_of(dtype) < kFirstOpaque + static_cast<int>(kOpaqueNames.size());
}

std::size_t size_of(DataType dtype) {
  if (is_opaque(dtype)) return std::size_t{1} << (value_of(dtype) - kFirstOpaque);
  WEFT_ASSERT(value_of(dtype) < kDataTypes);
  return kDataTypeBytes[static_cast<std::size_t>(dtype)];
}

bool reduces(Collective collective) {
  return collective == Collective::AllReduce || collective == Collective::ReduceScatter ||
         collective == Collective::Reduce;
}

bool has_root(Collective collective) {
  return collective == Collective::Broadcast || collective == Collective::Reduce || collective == Collective::Gather ||
         collective == Collective::Scatter;
}

bool valid(DataType dtype, ReduceOp op) {
  if (value_of(dtype) >= kDataTypes || value_of(op) >= kReduceOps) return false;
  switch (op) {
    case ReduceOp::BitAnd:
    case ReduceOp::BitOr:
    case ReduceOp::BitXor:
      return !is_float(dtype);
    case ReduceOp::Avg:
      return dtype != DataType::Bool;
    default:
      return true;
  }
}

std::string_view to_string(Collective collective) { return name_of(value_of(collective), kCollectiveNames); }
std::string_view to_string(DataType dtype) {
  return is_opaque(dtype) ? name_of(value_of(dtype) - kFirstOpaque, kOpaqueNames)
                          : name_of(value_of(dtype), kDataTypeNames);
}
std::string_view to_string(ReduceOp op) {
  if (op == ReduceOp::PreMulSum) return "pre_mul_sum";
  constexpr int kEndOfUserOps = kFirstUserOp + base::kOperatorHandles;
  const bool made = op >= ReduceOp::UserDefined && static_cast<int>(op) < kEndOfUserOps;
  return made ? "user_defined" : name_of(value_of(op), kReduceOpNames);
}

std::string_view to_string(Numerics numerics) { return numerics == Numerics::Fast ? "fast" : "invariant"; }

std::optional<Numerics> parse_numerics(std::string_view name) {
  for (const Numerics numerics : {Numerics::Fast, Numerics::Invariant})
    if (name == to_string(numerics)) return numerics;
  return std::nullopt;
}

double unit_error(Quantisation quantisation) {
  constexpr double kFloatError = 1.0 / (1 << 16);
  switch (quantisation) {
    case Quantisation::Int8:
      return 1.0 / 254 + kFloatError;
    case Quantisation::Float8E4M3:
      return 1.0 / 28 + kFloatError;
    case Quantisation::None:
      break;
  }
  return 0;
}

std::string_view to_string(Quantisation quantisation) {
  return name_of(static_cast<int>(quantisation), kQuantisationNames);
}

std::optional<Quantisation> parse_quantisation(std::string_view name) {
  constexpr std::array kOthers = {Name{"float8_e4m3", static_cast<int>(Quantisation::Float8E4M3)}};
  return find<Quantisation>(name, kQuantisationNames, kOthers);
}

std::optional<Collective> parse_collective(std::string_view name) {
  return find<Collective>(name, kCollectiveNames, kOtherCollectives);
}
std::optional<DataType> parse_data_type(std::string_view name) {
  return find<DataType>(name, kDataTypeNames, kOtherDataTypes);
}
std::optional<ReduceOp> parse_reduce_op(std::string_view name) {
  return find<ReduceOp>(name, kReduceOpNames, kOtherReduceOps);
}

}  // namespace weft
