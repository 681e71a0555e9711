// The boundary to C: what a function returns, what is remembered of a failure, and that nothing is thrown.
#pragma once

#include "comm/c_api/handles.hpp"
#include "weft/status.hpp"
#include "weft/weft.h"

namespace weft::comm::c_api {

weft_status_t to_c(Code code);

// Remembers why `function` failed, for this thread and, if it is not null, for the communicator.
weft_status_t failed(const char* function, weft_comm* comm, const Status& status);
// The same for the exception that is being handled.
weft_status_t failed_by_exception(const char* function, weft_comm* comm) noexcept;

// Runs `body`, which gives a Status, as the function of that name. `comm` may be null; else it was checked.
template <typename Body>
weft_status_t at_boundary(const char* function, weft_comm* comm, const Body& body) {
  try {
    const Status status = body();
    return status.ok() ? WEFT_SUCCESS : failed(function, comm, status);
  } catch (...) {
    return failed_by_exception(function, comm);
  }
}

// The same for functions of a communicator, which is checked.
template <typename Body>
weft_status_t with_comm(const char* function, weft_comm* comm, const Body& body) {
  const weft_status_t bad = at_boundary(function, nullptr, [&] { return check_handle(comm); });
  return bad != WEFT_SUCCESS ? bad : at_boundary(function, comm, [&] { return body(*comm); });
}

// The same for collective calls: peers must not wait for a rank on which an exception ended the call halfway.
void abort_after_exception(weft_comm& comm) noexcept;
template <typename Body>
weft_status_t collectively(const char* function, weft_comm* comm, const Body& body) {
  return with_comm(function, comm, [&](weft_comm& known) -> Status {
    try {
      return body(known);
    } catch (...) {
      abort_after_exception(known);
      throw;
    }
  });
}

// InvalidArgument, "NAME is null; REMEDY".
Status null_argument(const char* name, const char* remedy);

}  // namespace weft::comm::c_api
