// Packs a call into the code, and unpacks one that a peer sent, which may be anything.
#include "comm/call_code.hpp"

#include "weft/operator.hpp"

namespace weft::comm {
namespace {

constexpr std::uint32_t kMark = 0x57000000;  // tells a call code from zeroed memory
constexpr std::uint32_t kUneven = 0x00800000;
constexpr std::uint32_t kPreMulSum = static_cast<std::uint32_t>(ReduceOp::PreMulSum) + 1;
constexpr std::uint32_t kUserDefined = static_cast<std::uint32_t>(ReduceOp::UserDefined) + 1;

// Handles may differ between ranks: they stand for what the program made. What that is, plans have in their hash.
std::uint32_t code_of(ReduceOp op) {
  return static_cast<int>(op) >= kFirstUserOp ? kUserDefined : static_cast<std::uint32_t>(op) + 1;
}
constexpr std::uint32_t kQuantisationShift = 20;
// Where a quantisation would be: calls that are packed have none.
constexpr std::uint32_t kOfList = 7U << kQuantisationShift;
static_assert(kQuantisations <= 7);

// Where a collective would be.
constexpr std::uint32_t kAllocate = kMark | 14U << 16;
constexpr std::uint32_t kFree = kMark | 15U << 16;
static_assert(kCollectives <= 14);

}  // namespace

std::uint32_t call_code(const Operation& operation) {
  const std::uint32_t op = reduces(operation.collective) ? code_of(operation.op) : 0;
  const std::uint32_t dtype =
      operation.collective == Collective::Barrier ? 0 : static_cast<std::uint32_t>(operation.dtype) + 1;
  return kMark | (operation.uneven ? kUneven : 0) | static_cast<std::uint32_t>(operation.collective) << 16 |
         dtype << 8 | static_cast<std::uint32_t>(operation.quantisation) << kQuantisationShift | op;
}

std::uint32_t code_of_kind(CallKind kind, std::uint32_t operation) {
  if (kind == CallKind::Allocate) return kAllocate;
  if (kind == CallKind::Free) return kFree;
  return kind == CallKind::OfList ? operation | kOfList : operation;
}

CallKind kind_of(std::uint32_t code) {
  if (code == kAllocate) return CallKind::Allocate;
  if (code == kFree) return CallKind::Free;
  return (code & kOfList) == kOfList ? CallKind::OfList : CallKind::Plain;
}

std::optional<Operation> decode_call(std::uint32_t code) {
  if (kind_of(code) == CallKind::OfList) code &= ~kOfList;
  const std::uint32_t collective = code >> 16 & 0xf;
  const std::uint32_t dtype = code >> 8 & 0xff;
  const std::uint32_t quantisation = code >> kQuantisationShift & 0x7;
  const std::uint32_t op = code & 0xff;
  const bool known_dtype = dtype <= kDataTypes || is_opaque(static_cast<DataType>(dtype - 1));
  const bool known_op = op <= kReduceOps || op == kPreMulSum || op == kUserDefined;
  if ((code & 0xff000000) != kMark || collective >= kCollectives || !known_dtype || !known_op ||
      quantisation >= kQuantisations)
    return std::nullopt;
  Operation operation;
  operation.collective = static_cast<Collective>(collective);
  operation.uneven = (code & kUneven) != 0;
  operation.quantisation = static_cast<Quantisation>(quantisation);
  if (dtype > 0) operation.dtype = static_cast<DataType>(dtype - 1);
  if (op > 0) operation.op = static_cast<ReduceOp>(op - 1);
  if (call_code(operation) != code) return std::nullopt;
  return operation;
}

}  // namespace weft::comm
