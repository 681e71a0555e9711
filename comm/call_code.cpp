// Packs a call into the code, and unpacks one that a peer sent, which may be anything.
#include "comm/call_code.hpp"

namespace weft::comm {
namespace {

constexpr std::uint32_t kMark = 0x57000000;  // tells a call code from zeroed memory
constexpr std::uint32_t kUneven = 0x00800000;
constexpr std::uint32_t kQuantisationShift = 4;

}  // namespace

std::uint32_t call_code(const Operation& operation) {
  const std::uint32_t op = reduces(operation.collective) ? static_cast<std::uint32_t>(operation.op) + 1 : 0;
  const std::uint32_t dtype =
      operation.collective == Collective::Barrier ? 0 : static_cast<std::uint32_t>(operation.dtype) + 1;
  return kMark | (operation.uneven ? kUneven : 0) | static_cast<std::uint32_t>(operation.collective) << 16 |
         dtype << 8 | static_cast<std::uint32_t>(operation.quantisation) << kQuantisationShift | op;
}

std::optional<Operation> decode_call(std::uint32_t code) {
  const std::uint32_t collective = code >> 16 & 0x7f;
  const std::uint32_t dtype = code >> 8 & 0xff;
  const std::uint32_t quantisation = code >> kQuantisationShift & 0xf;
  const std::uint32_t op = code & 0xf;
  if ((code & 0xff000000) != kMark || collective >= kCollectives || dtype > kDataTypes || op > kReduceOps ||
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
