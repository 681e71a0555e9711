// Marks of handles, and the pool of requests.
#include "comm/c_api/handles.hpp"

#include <fmt/format.h>

namespace weft::comm::c_api {
namespace {

// Memory that is about to be freed is written all the same: the compiler may not leave it out.
void end(std::uint32_t& mark) { *const_cast<volatile std::uint32_t*>(&mark) = kEndedMark; }

template <typename Handle>
bool marked(const Handle* handle, std::uint32_t mark) {
  return reinterpret_cast<std::uintptr_t>(handle) % alignof(Handle) == 0 && handle->mark == mark;
}

}  // namespace

RequestPool::~RequestPool() {
  for (const auto& request : ended_) end(request->mark);
}

weft_request* RequestPool::take(weft_comm& comm) {
  if (ended_.empty()) {
    // Room for all of them in both, so that give_back() needs no memory.
    const std::size_t all = open_.size() + 1;
    if (open_.capacity() < all) open_.reserve(2 * all);
    if (ended_.capacity() < all) ended_.reserve(2 * all);
    ended_.push_back(std::make_unique<weft_request>());
  }
  std::unique_ptr<weft_request> request = std::move(ended_.back());
  ended_.pop_back();
  request->mark = kRequestMark;
  request->index = open_.size();
  request->comm = &comm;
  request->received = nullptr;
  request->thread = std::this_thread::get_id();
  open_.push_back(request.get());
  return request.release();
}

void RequestPool::give_back(weft_request& request) noexcept {
  open_.back()->index = request.index;
  open_[request.index] = open_.back();
  open_.pop_back();
  end(request.mark);
  ended_.emplace_back(&request);
}

void RequestPool::detach() {
  for (weft_request* const request : open_) {
    if (request->thread == std::this_thread::get_id()) {
      request->outcome = wait_for_end(*request);
    } else {
      request->outcome = Status(Code::Aborted,
                                "another thread destroyed the communicator before this operation was waited for; its "
                                "outcome is not known");
    }
  }
  for (weft_request* const request : open_) {
    request->work = Work();
    request->comm = nullptr;
  }
  open_.clear();
}

Status wait_for_end(weft_request& request) {
  Status outcome = request.work.wait();
  if (outcome.ok() && request.received != nullptr) {
    const Received& received = request.work.received();
    *request.received = {received.count, received.source, received.tag};
  }
  return outcome;
}

Status check_handle(const weft_comm* comm) {
  if (comm == nullptr) {
    return Status(Code::InvalidArgument,
                  "comm is null; make a communicator by weft_comm_init(), weft_comm_init_rank(), "
                  "weft_comm_init_callback() or weft_comm_split()");
  }
  if (!marked(comm, kCommunicatorMark))
    return Status(Code::InvalidArgument, "comm is no communicator, or one that was destroyed");
  return {};
}

void end(weft_comm& comm) {
  const std::unique_ptr<weft_comm> last(&comm);
  end(last->mark);
}

Status check_handle(const weft_request* request) {
  if (!marked(request, kRequestMark)) {
    return Status(Code::InvalidArgument,
                  "*request is no request, or one that has ended; begin with NULL, and keep no copies");
  }
  if (request->thread != std::this_thread::get_id()) {
    return Status(Code::InvalidArgument, "*request was started by another thread; test it and wait for it there");
  }
  return {};
}

}  // namespace weft::comm::c_api
