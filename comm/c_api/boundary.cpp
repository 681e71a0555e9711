// Statuses in C, and the last error of each thread and communicator.
#include "comm/c_api/boundary.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <utility>

namespace weft::comm::c_api {
namespace {

constexpr const char* kOutOfMemory =
    "out of memory: the system has none left, or this process may have no more (ulimit -v)";

struct ThreadError {
  LastError error;
  std::string shown;  // what weft_last_error() gave out of a communicator's
};

ThreadError& this_thread() {
  thread_local ThreadError error;
  return error;
}

void remember(weft_comm* comm, LastError error) {
  if (comm != nullptr) {
    const std::lock_guard lock(comm->mutex);
    comm->last_error = error;
  }
  this_thread().error = std::move(error);
}

weft_status_t failed_without_memory(weft_comm* comm) noexcept {
  const auto put = [](LastError& error) {
    error.peer = -1;
    error.constant = kOutOfMemory;
  };
  put(this_thread().error);
  if (comm != nullptr) {
    const std::lock_guard lock(comm->mutex);
    put(comm->last_error);
  }
  return WEFT_ERROR_RESOURCE_EXHAUSTED;
}

}  // namespace

weft_status_t to_c(Code code) { return static_cast<weft_status_t>(code); }
static_assert(static_cast<int>(Code::Ok) == WEFT_SUCCESS);
static_assert(static_cast<int>(Code::InvalidArgument) == WEFT_ERROR_INVALID_ARGUMENT);
static_assert(static_cast<int>(Code::NotFound) == WEFT_ERROR_NOT_FOUND);
static_assert(static_cast<int>(Code::Unsupported) == WEFT_ERROR_UNSUPPORTED);
static_assert(static_cast<int>(Code::Mismatch) == WEFT_ERROR_MISMATCH);
static_assert(static_cast<int>(Code::PeerLost) == WEFT_ERROR_PEER_LOST);
static_assert(static_cast<int>(Code::Timeout) == WEFT_ERROR_TIMEOUT);
static_assert(static_cast<int>(Code::Aborted) == WEFT_ERROR_ABORTED);
static_assert(static_cast<int>(Code::ResourceExhausted) == WEFT_ERROR_RESOURCE_EXHAUSTED);
static_assert(static_cast<int>(Code::Corrupt) == WEFT_ERROR_CORRUPT);
static_assert(static_cast<int>(Code::SystemError) == WEFT_ERROR_SYSTEM);
static_assert(static_cast<int>(Code::Internal) == WEFT_ERROR_INTERNAL);

weft_status_t failed(const char* function, weft_comm* comm, const Status& status) {
  remember(comm, {.text = fmt::format("{}: {}", function, status.message()), .peer = status.peer()});
  return to_c(status.code());
}

weft_status_t failed_by_exception(const char* function, weft_comm* comm) noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return failed_without_memory(comm);
    } catch (const std::exception& error) {
      return failed(function, comm, Status(Code::Internal, fmt::format("unexpected exception: {}", error.what())));
    } catch (...) {
      return failed(function, comm, Status(Code::Internal, "an exception of another language or library"));
    }
  } catch (...) {
    return failed_without_memory(comm);
  }
}

void abort_after_exception(weft_comm& comm) noexcept {
  try {
    comm.communicator.abort("an exception ended one of its calls, probably for want of memory");
  } catch (...) {  // they will hear of it by their deadline
  }
}

Status null_argument(const char* name, const char* remedy) {
  return Status(Code::InvalidArgument, fmt::format("{} is null; {}", name, remedy));
}

}  // namespace weft::comm::c_api

using namespace weft::comm::c_api;

const char* weft_error_string(weft_status_t status) {
  if (status == WEFT_IN_PROGRESS) return "in progress";
  if (status < WEFT_SUCCESS || status > WEFT_ERROR_INTERNAL) return "unknown status";
  return weft::to_string(static_cast<weft::Code>(status)).data();
}

const char* weft_last_error(weft_comm_t comm) {
  ThreadError& own = this_thread();
  if (comm == nullptr) return own.error.shown();
  try {
    if (!check_handle(comm).ok())
      return "weft_last_error: comm is no communicator, or one that was destroyed; NULL gives this thread's last error";
    const std::lock_guard lock(comm->mutex);
    own.shown = comm->last_error.shown();
    return own.shown.c_str();
  } catch (...) {
    return kOutOfMemory;
  }
}

int weft_last_error_peer(weft_comm_t comm) {
  if (comm == nullptr) return this_thread().error.peer;
  try {
    if (!check_handle(comm).ok()) return -1;
    const std::lock_guard lock(comm->mutex);
    return comm->last_error.peer;
  } catch (...) {
    return -1;
  }
}
