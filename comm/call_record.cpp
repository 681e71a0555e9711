// Reading a record that the calling thread may be writing, and telling a record in words.
#include "comm/call_record.hpp"

#include <fmt/format.h>

#include "comm/call_code.hpp"

namespace weft::comm {

namespace {

std::string quantisation_text(const Operation& call) {
  return call.quantisation == Quantisation::None ? std::string()
                                                 : fmt::format(", quantised to {}", to_string(call.quantisation));
}

}  // namespace

std::string describe(const CallRecord& record) {
  const std::optional<Operation> call = decode_call(record.call);
  if (!call) return fmt::format("an unknown call #{}", record.sequence);
  std::string text = fmt::format("{} #{}", name_of(*call), record.sequence);
  if (call->collective == Collective::Barrier) return text;
  if (call->uneven) {
    text += fmt::format(" of {}", to_string(call->dtype));
    if (record.count > 0) text += fmt::format(", about {} a rank (counts {:08x})", record.count, record.hash >> 32);
  } else {
    text += fmt::format(" of {} {}", record.count, to_string(call->dtype));
  }
  if (reduces(call->collective)) text += fmt::format(", {}", to_string(call->op));
  if (has_root(call->collective)) text += fmt::format(", root {}", record.root);
  return text + quantisation_text(*call);
}

std::string describe_kind(const CallRecord& record) {
  const std::optional<Operation> call = decode_call(record.call);
  if (!call) return "an unknown call";
  std::string text = fmt::format("{} #{}", name_of(*call), record.sequence);
  if (call->collective != Collective::Barrier) text += fmt::format(" of {}", to_string(call->dtype));
  if (reduces(call->collective)) text += fmt::format(", {}", to_string(call->op));
  return text + quantisation_text(*call);
}

std::optional<CallRecord> CallHistory::find(std::uint32_t sequence) const {
  const Slot& slot = slots_[sequence % kKept];
  const std::uint64_t before = slot.guard.load(std::memory_order_acquire);
  if (sequence == 0 || before != std::uint64_t{sequence} * 2) return std::nullopt;
  CallRecord record;
  const std::uint64_t call_root = slot.call_root.load(std::memory_order_acquire);
  record.sequence = sequence;
  record.call = static_cast<std::uint32_t>(call_root >> 32);
  record.root = static_cast<std::int32_t>(call_root & 0xffff'ffff);
  record.count = slot.count.load(std::memory_order_acquire);
  record.hash = slot.hash.load(std::memory_order_acquire);
  if (slot.guard.load(std::memory_order_relaxed) != before) return std::nullopt;
  return record;
}

}  // namespace weft::comm
