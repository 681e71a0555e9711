// Objects: bytes whose number only the sender knows, to all ranks and from all ranks.
//
// One collective call carries the size and the first kInline bytes; a second one the object, if it is longer. All ranks
// know from the first whether there is a second.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include "comm/communicator_state.hpp"

namespace weft::comm {
namespace {

// Together with the size 1 KiB, which costs hardly more than 8 bytes would.
constexpr std::size_t kInline = 1016;

struct Head {
  std::uint64_t bytes = 0;
  std::byte first[kInline] = {};
};
static_assert(sizeof(Head) == 1024);

Status no_place(const char* call, const char* argument) {
  return Status(Code::InvalidArgument,
                fmt::format("{}: {} is null; give a vector, which is resized as needed", call, argument));
}

}  // namespace

// The others wait for this rank in the call that it cannot make.
Status CommunicatorState::no_memory(std::uint64_t bytes) {
  const Status status(Code::ResourceExhausted,
                      fmt::format("rank {} has no memory for an object of {} bytes", rank(), bytes), rank());
  runtime_->control().fail(member_, status);
  return status;
}

Status CommunicatorState::broadcast_object(std::vector<std::byte>* object, int root) {
  if (object == nullptr) {
    WEFT_TRY(health());
    return no_place("broadcast", "object");
  }
  Head head;
  if (rank() == root) {
    head.bytes = object->size();
    if (head.bytes > 0) std::memcpy(head.first, object->data(), std::min(kInline, object->size()));
  }
  WEFT_TRY(run(broadcast(&head, &head, sizeof(head), DataType::UInt8, root)));
  if (rank() != root) {
    try {
      object->resize(head.bytes);
    } catch (const std::exception&) {
      return no_memory(head.bytes);
    }
  }
  if (head.bytes > kInline) return run(broadcast(object->data(), object->data(), head.bytes, DataType::UInt8, root));
  if (rank() != root && head.bytes > 0) std::memcpy(object->data(), head.first, head.bytes);
  return {};
}

Status CommunicatorState::all_gather_objects(std::span<const std::byte> object,
                                             std::vector<std::vector<std::byte>>* objects) {
  if (objects == nullptr) {
    WEFT_TRY(health());
    return no_place("all_gather", "objects");
  }
  const auto ranks = static_cast<std::size_t>(size());
  Head head;
  head.bytes = object.size();
  if (head.bytes > 0) std::memcpy(head.first, object.data(), std::min(kInline, object.size()));
  std::vector<Head> heads(ranks);
  WEFT_TRY(run(all_gather(&head, heads.data(), sizeof(head), DataType::UInt8)));

  // What is longer comes whole, one behind the other.
  std::vector<std::uint64_t> counts(ranks);
  std::uint64_t total = 0;
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    counts[peer] = heads[peer].bytes > kInline ? heads[peer].bytes : 0;
    total += counts[peer];
  }
  std::vector<std::byte> together;
  try {
    together.resize(total);
    objects->resize(ranks);
    for (std::size_t peer = 0; peer < ranks; ++peer) (*objects)[peer].resize(heads[peer].bytes);
  } catch (const std::exception&) {
    return no_memory(total);
  }
  if (total > 0)
    WEFT_TRY(run(all_gather_v(object.data(), together.data(), {.counts = counts.data()}, DataType::UInt8)));
  const std::byte* next = together.data();
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    std::vector<std::byte>& to = (*objects)[peer];
    const std::byte* const from = counts[peer] > 0 ? next : heads[peer].first;
    if (!to.empty()) std::memcpy(to.data(), from, to.size());
    next += counts[peer];
  }
  return {};
}

}  // namespace weft::comm
