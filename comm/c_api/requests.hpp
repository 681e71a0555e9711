// How a request begins, and how it ends, for those that hold requests of their own.
#pragma once

#include <utility>

#include "comm/c_api/handles.hpp"
#include "weft/status.hpp"

namespace weft::comm::c_api {

// A request that is given back in the end, also after an exception, unless it is handed out.
class OpenedRequest final {
 public:
  explicit OpenedRequest(weft_comm& comm) : comm_(comm), request_(comm.requests.take(comm)) {}
  explicit OpenedRequest(weft_request& opened) : comm_(*opened.comm), request_(&opened) {}
  ~OpenedRequest() {
    if (request_ != nullptr) comm_.requests.give_back(*request_);
  }
  OpenedRequest(const OpenedRequest&) = delete;
  OpenedRequest& operator=(const OpenedRequest&) = delete;
  weft_request& operator*() const { return *request_; }
  weft_request* operator->() const { return request_; }
  weft_request* hand_out() { return std::exchange(request_, nullptr); }

 private:
  weft_comm& comm_;
  weft_request* request_;
};

// Waits for a request that is not null, gives its outcome and ends it: *handle is null then.
Status finish(weft_request_t* handle);

}  // namespace weft::comm::c_api
