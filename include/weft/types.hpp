// The small vocabulary of a collective call: which collective, which type, which operator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weft {

enum class Collective : std::uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  Barrier,
};
inline constexpr int kCollectives = 9;

// Floats of 8 and 16 bits are computed in float and rounded to nearest even. Float8E4M3 and Float8E5M2 are those of the
// Open Compute Project (OFP8): E4M3 has no infinity, its largest number is 448 and what is beyond becomes NaN; E5M2
// reaches 57344, then infinity. Bool is one byte, 0 or 1.
enum class DataType : std::uint8_t {
  Int8,
  UInt8,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float8E4M3,
  Float8E5M2,
  Float16,
  BFloat16,
  Float32,
  Float64,
  Bool
};
inline constexpr int kDataTypes = 13;

// Avg is the sum divided by the number of ranks (integers: truncated towards zero). BitAnd, BitOr and BitXor are for
// integers and Bool. On Bool, Sum and Max are "or", Prod and Min are "and", Avg is refused. Values from kFirstUserOp on
// are handles of operators that a program made (weft/operator.hpp); PreMulSum and UserDefined stand for such in
// messages.
enum class ReduceOp : std::uint8_t { Sum, Prod, Min, Max, Avg, BitAnd, BitOr, BitXor, PreMulSum = 62, UserDefined };
inline constexpr int kReduceOps = 8;  // that need not be made
inline constexpr int kFirstUserOp = 64;

// Which bits a reduction of floats gives. Fast: all ranks hold the same, and the same call on the same communicator
// gives them again. Invariant: they depend on the inputs and the order of the ranks only, not on size, chunks,
// channels, algorithm, transport, placement, or whether the call is in place (docs/numerics.md).
enum class Numerics : std::uint8_t { Fast, Invariant };

// How the numbers of a call travel (docs/numerics.md): in blocks of kQuantisedBlock elements from the start of a rank's
// buffer, each as the largest magnitude among them and a byte for each element. Int8: steps of 1/127 of it; Float8E4M3:
// floats of 8 bits up to it. The last block may be shorter.
enum class Quantisation : std::uint8_t { None, Int8, Float8E4M3 };
inline constexpr int kQuantisations = 3;
inline constexpr std::uint64_t kQuantisedBlock = 256;

// Where a buffer lives. Host is the only kind that this version executes; the field is part of an Operation so that a
// device buffer needs no other design.
enum class MemoryKind : std::uint8_t { Host, Device };

std::size_t size_of(DataType dtype);   // bytes of one element
bool reduces(Collective collective);   // all_reduce, reduce_scatter, reduce
bool has_root(Collective collective);  // broadcast, reduce, gather, scatter
bool valid(DataType dtype, ReduceOp op);
// How far an element of a block is from what was quantised, at most, as a part of the block's largest magnitude: 1/254
// or 1/28, and 2^-16 for what float rounds. 0 for None.
double unit_error(Quantisation quantisation);

// The field's names: "all_reduce", "float32", "sum".
std::string_view to_string(Collective collective);
std::string_view to_string(DataType dtype);
std::string_view to_string(ReduceOp op);
std::string_view to_string(Numerics numerics);          // "fast", "invariant"
std::string_view to_string(Quantisation quantisation);  // "none", "int8", "e4m3"

// Inverse of to_string; also accepts the short names (f32, bf16, ...) and nccl-tests' spellings (float, half,
// bfloat16).
std::optional<Collective> parse_collective(std::string_view name);
std::optional<DataType> parse_data_type(std::string_view name);
std::optional<ReduceOp> parse_reduce_op(std::string_view name);
std::optional<Numerics> parse_numerics(std::string_view name);
std::optional<Quantisation> parse_quantisation(std::string_view name);

}  // namespace weft
