// weft_group_start and weft_group_end.
#include "comm/c_api/group.hpp"

#include <memory>
#include <utility>

#include "comm/c_api/boundary.hpp"
#include "comm/c_api/requests.hpp"

namespace weft::comm::c_api {
namespace {

// Of a group that has failed already: the first failure's text stays, whatever this one ends with.
void end_untold(weft_request_t& request) noexcept {
  try {
    static_cast<void>(finish(&request).ok());
  } catch (...) {  // memory ran out
  }
}

}  // namespace

// What is in flight belongs to its communicator, which waits for it when it is destroyed.
Group::~Group() {
  for (weft_request* const request : requests)
    if (request->comm == nullptr) delete request;
}

Group& this_threads_group() {
  thread_local Group group;
  return group;
}

// The room is there before the call: afterwards nothing may fail any more.
RequestPlace::RequestPlace(weft_request_t* callers)
    : callers_(callers), grouped_(callers == nullptr && this_threads_group().depth > 0) {
  if (!grouped_) return;
  auto& requests = this_threads_group().requests;
  if (requests.capacity() == requests.size()) requests.reserve(2 * requests.size() + 8);
}

RequestPlace::~RequestPlace() {
  if (own_ != nullptr) this_threads_group().requests.push_back(own_);
}

}  // namespace weft::comm::c_api

using namespace weft::comm::c_api;

weft_status_t weft_group_start(void) {
  return at_boundary("weft_group_start", nullptr, [&]() -> weft::Status {
    ++this_threads_group().depth;
    return {};
  });
}

weft_status_t weft_group_end(void) {
  const weft_status_t bad = at_boundary("weft_group_end", nullptr, [&]() -> weft::Status {
    if (this_threads_group().depth > 0) return {};
    return weft::Status(weft::Code::InvalidArgument,
                        "no group is open on this thread; call weft_group_start() before the calls that belong to it");
  });
  if (bad != WEFT_SUCCESS) return bad;
  Group& group = this_threads_group();
  if (--group.depth > 0) return WEFT_SUCCESS;
  weft_status_t first = WEFT_SUCCESS;
  for (weft_request_t& request : group.requests) {
    weft_comm* const comm = request->comm;
    const auto end = [&] { return at_boundary("weft_group_end", comm, [&] { return finish(&request); }); };
    if (first == WEFT_SUCCESS) {
      first = end();
    } else {
      end_untold(request);
    }
  }
  group.requests.clear();
  return first;
}
