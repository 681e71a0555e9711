#include "comm/call_code.hpp"

namespace weft::comm {
namespace {

constexpr std::uint32_t kMark = 0x57000000;  // tells a call code from zeroed memory

}  // namespace

std::uint32_t call_code(const Operation& operation) {
  const auto op = reduces(operation.collective) ? static_cast<std::uint32_t>(operation.op) + 1 : 0;
  return kMark | static_cast<std::uint32_t>(operation.collective) << 16 | static_cast<std::uint32_t>(operation.dtype) << 8 | op;
}

std::string describe_call_code(std::uint32_t code) {
  const auto collective = code >> 16 & 0xff;
  const auto dtype = code >> 8 & 0xff;
  const auto op = code & 0xff;
  if ((code & 0xff000000) != kMark || collective >= kCollectives || dtype >= kDataTypes || op > kReduceOps) return "an unknown call";
  std::string text(to_string(static_cast<Collective>(collective)));
  if (static_cast<Collective>(collective) == Collective::Barrier) return text;
  text += " of ";
  text += to_string(static_cast<DataType>(dtype));
  if (op > 0) {
    text += ", ";
    text += to_string(static_cast<ReduceOp>(op - 1));
  }
  return text;
}

}  // namespace weft::comm
