// Communicators of C: groups by a members' list, what they cost, and the descriptor that a program polls.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "comm/c_api/boundary.hpp"

namespace weft::comm::c_api {
namespace {

constexpr std::size_t kFirstCostSize = offsetof(weft_cost_t, reserved) + sizeof(std::int32_t);

Status split_members(weft_comm& parent, int count, const int* ranks, weft_comm_t* child) {
  if (child == nullptr) return null_argument("newcomm", "pass the address of a weft_comm_t");
  if (count < 1) return Status(Code::InvalidArgument, fmt::format("count is {}; give 1 rank or more", count));
  if (ranks == nullptr) return null_argument("ranks", "give the ranks of the new communicator");
  WEFT_TRY_ASSIGN(Communicator communicator, parent.communicator.split_members(std::vector<int>(ranks, ranks + count)));
  *child = new weft_comm(std::move(communicator), &parent);
  ++parent.children;
  return {};
}

weft_cost_t to_c(const Cost& cost, std::size_t size) {
  weft_cost_t filled;
  std::memset(&filled, 0, sizeof filled);
  filled.size = size;
  filled.group_bytes = cost.group_bytes;
  filled.plan_bytes = cost.plan_bytes;
  filled.scratch_bytes = cost.scratch_bytes;
  filled.lane_bytes = cost.lane_bytes;
  filled.model_bytes = cost.shared.model_bytes;
  filled.lanes = cost.lanes;
  filled.descriptors = cost.descriptors;
  filled.threads = cost.threads;
  filled.shared_communicators = cost.shared.communicators;
  filled.shared_connections = cost.shared.connections;
  filled.shared_descriptors = cost.shared.descriptors;
  filled.shared_threads = cost.shared.threads;
  return filled;
}

Status get_cost(weft_comm& comm, weft_cost_t* cost) {
  constexpr std::size_t kMostSize = 64 << 10;  // beyond it `size` was never set
  if (cost == nullptr) return null_argument("cost", "pass the address of a weft_cost_t");
  if (cost->size < kFirstCostSize || cost->size > kMostSize) {
    return Status(Code::InvalidArgument,
                  fmt::format("cost->size is {}; set it to sizeof(weft_cost_t) before the call", cost->size));
  }
  const std::size_t size = cost->size;
  const weft_cost_t filled = to_c(comm.communicator.cost(), size);
  std::memset(static_cast<void*>(cost), 0, size);
  std::memcpy(static_cast<void*>(cost), &filled, std::min(size, sizeof filled));
  return {};
}

}  // namespace
}  // namespace weft::comm::c_api

using namespace weft::comm::c_api;
using weft::Status;

weft_status_t weft_comm_split_members(weft_comm_t comm, int count, const int* ranks, weft_comm_t* newcomm) {
  return collectively("weft_comm_split_members", comm,
                      [&](weft_comm& parent) { return split_members(parent, count, ranks, newcomm); });
}

weft_status_t weft_comm_get_cost(weft_comm_t comm, weft_cost_t* cost) {
  return with_comm("weft_comm_get_cost", comm, [&](weft_comm& known) { return get_cost(known, cost); });
}

weft_status_t weft_comm_get_event_fd(weft_comm_t comm, int* descriptor) {
  return with_comm("weft_comm_get_event_fd", comm, [&](weft_comm& known) -> Status {
    if (descriptor == nullptr) return null_argument("descriptor", "pass the address of an int");
    WEFT_TRY_ASSIGN(*descriptor, known.communicator.event_descriptor());
    return {};
  });
}
