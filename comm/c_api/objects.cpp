// Objects of C: bytes whose number only their sender knows. What was received lies in a vector that the caller's
// structure owns, so that nothing is copied.
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "comm/c_api/boundary.hpp"
#include "comm/c_api/call.hpp"
#include "comm/c_api/messages.hpp"
#include "comm/c_api/options.hpp"
#include "comm/check.hpp"

namespace weft::comm::c_api {
namespace {

using Bytes = std::vector<std::byte>;

constexpr const char* kObjectRemedy = "pass the address of a weft_object_t";

// What a caller gave to be sent.
struct Given {
  const void* data;
  std::size_t bytes;

  Status check() const {
    return data == nullptr && bytes > 0 ? null_argument("data", "give the bytes of the object") : Status();
  }
  std::span<const std::byte> span() const { return {static_cast<const std::byte*>(data), bytes}; }
};

struct From {
  int peer;
  int tag;
};

weft_object_t hand_over(std::unique_ptr<Bytes> bytes) noexcept {
  Bytes* const owner = bytes.release();
  return {owner->empty() ? nullptr : owner->data(), owner->size(), owner};
}

Status receive(weft_comm& comm, const From& from, const weft_message_options_t* given, weft_object_t* object,
               weft_received_t* received) {
  if (object == nullptr) return null_argument("object", kObjectRemedy);
  WEFT_TRY_ASSIGN(const weft_message_options_t options, read_options(given));
  auto bytes = std::make_unique<Bytes>();
  const Result<Received> outcome = comm.communicator.receive(bytes.get(), from.peer, from.tag, options.timeout_ms);
  if (!outcome.has_value()) return in_words_of_c(outcome.error());
  *object = hand_over(std::move(bytes));
  if (received != nullptr) *received = {outcome->count, outcome->source, outcome->tag};
  return {};
}

Status broadcast(weft_comm& comm, const Given& given, weft_object_t* object, int root) {
  const int rank = comm.communicator.rank(), size = comm.communicator.size();
  const Operation call = weft::broadcast(nullptr, nullptr, 0, DataType::UInt8, root);
  WEFT_TRY(in_words_of_c(call, rank, size, check_call(call, rank, size)));
  const bool gives = rank == root;
  if (gives) WEFT_TRY(given.check());
  if (!gives && object == nullptr) return null_argument("object", kObjectRemedy);
  auto bytes = std::make_unique<Bytes>();
  if (gives) bytes->assign(given.span().begin(), given.span().end());
  WEFT_TRY(comm.communicator.broadcast(bytes.get(), root));
  if (!gives) *object = hand_over(std::move(bytes));
  return {};
}

Status all_gather(weft_comm& comm, const Given& given, weft_object_t* objects) {
  WEFT_TRY(given.check());
  if (objects == nullptr) return null_argument("objects", "give a weft_object_t for each rank");
  std::vector<Bytes> all;
  // There before the call: afterwards nothing may fail any more.
  std::vector<std::unique_ptr<Bytes>> owners(static_cast<std::size_t>(comm.communicator.size()));
  for (auto& owner : owners) owner = std::make_unique<Bytes>();
  WEFT_TRY(comm.communicator.all_gather(given.span(), &all));
  for (std::size_t rank = 0; rank < owners.size(); ++rank) {
    *owners[rank] = std::move(all[rank]);
    objects[rank] = hand_over(std::move(owners[rank]));
  }
  return {};
}

}  // namespace
}  // namespace weft::comm::c_api

using namespace weft::comm::c_api;

void weft_object_free(weft_object_t* object) {
  if (object == nullptr) return;
  const std::unique_ptr<Bytes> last(static_cast<Bytes*>(object->owner));
  *object = {nullptr, 0, nullptr};
}

weft_status_t weft_recv_object(weft_object_t* object, int peer, int tag, weft_received_t* received,
                               const weft_message_options_t* options, weft_comm_t comm) {
  return collectively("weft_recv_object", comm, [&](weft_comm& known) {
    return receive(known, {.peer = peer, .tag = tag}, options, object, received);
  });
}

weft_status_t weft_broadcast_object(const void* data, size_t bytes, weft_object_t* object, int root, weft_comm_t comm) {
  return collectively("weft_broadcast_object", comm, [&](weft_comm& known) {
    return broadcast(known, {data, bytes}, object, root);
  });
}

weft_status_t weft_all_gather_objects(const void* data, size_t bytes, weft_object_t* objects, weft_comm_t comm) {
  return collectively("weft_all_gather_objects", comm, [&](weft_comm& known) {
    return all_gather(known, {data, bytes}, objects);
  });
}
