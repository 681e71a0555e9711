// weft_test, weft_wait and weft_request_free: a request ends where it is found done.
#include <fmt/format.h>

#include <memory>

#include "comm/c_api/boundary.hpp"
#include "comm/c_api/requests.hpp"

namespace weft::comm::c_api {
namespace {

Status check_request(const weft_request_t* request) {
  if (request == nullptr) return null_argument("request", "pass the address of a weft_request_t");
  return *request == nullptr ? Status() : check_handle(*request);
}

// What its communicator remembers of a failure; null if there is none any more.
weft_comm* comm_of(const weft_request_t* request) { return *request == nullptr ? nullptr : (*request)->comm; }

// Runs `is_done` on a request in flight, and ends it if that is true.
template <typename IsDone>
weft_status_t settle(const char* function, weft_request_t* request, int* done, const IsDone& is_done) {
  weft_comm* const comm = comm_of(request);
  return at_boundary(function, comm, [&]() -> Status {
    *done = *request == nullptr || comm == nullptr || is_done((*request)->work) ? 1 : 0;
    return *done == 0 || *request == nullptr ? Status() : finish(request);
  });
}

}  // namespace

Status finish(weft_request_t* handle) {
  weft_request* const request = std::exchange(*handle, nullptr);
  if (request->comm == nullptr) {
    const std::unique_ptr<weft_request> last(request);
    return std::move(last->outcome);
  }
  const OpenedRequest ends(*request);
  return wait_for_end(*request);
}

}  // namespace weft::comm::c_api

using namespace weft::comm::c_api;

weft_status_t weft_test(weft_request_t* request, int* done) {
  const weft_status_t bad = at_boundary("weft_test", nullptr, [&]() -> weft::Status {
    if (done == nullptr) return null_argument("done", "pass the address of an int");
    return check_request(request);
  });
  if (bad != WEFT_SUCCESS) return bad;
  return settle("weft_test", request, done, [](weft::Work& work) { return work.test(); });
}

weft_status_t weft_wait(weft_request_t* request, int timeout_ms) {
  const weft_status_t bad = at_boundary("weft_wait", nullptr, [&]() -> weft::Status {
    if (timeout_ms >= WEFT_UNTIL_DEADLINE) return check_request(request);
    return weft::Status(weft::Code::InvalidArgument,
                        fmt::format("timeout_ms is {}; give 0 or more, or WEFT_UNTIL_DEADLINE (-1)", timeout_ms));
  });
  if (bad != WEFT_SUCCESS) return bad;
  int done = 0;
  const weft_status_t status = settle("weft_wait", request, &done, [&](weft::Work& work) {
    return timeout_ms == WEFT_UNTIL_DEADLINE || work.wait_for(timeout_ms);
  });
  return status == WEFT_SUCCESS && done == 0 ? WEFT_IN_PROGRESS : status;
}

weft_status_t weft_request_free(weft_request_t* request) {
  const weft_status_t bad = at_boundary("weft_request_free", nullptr, [&] { return check_request(request); });
  if (bad != WEFT_SUCCESS || *request == nullptr) return bad;
  return at_boundary("weft_request_free", comm_of(request), [&]() -> weft::Status {
    static_cast<void>(finish(request).ok());
    return {};
  });
}
