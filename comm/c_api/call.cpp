// Types, the request, and errors in C's words.
#include "comm/c_api/call.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "comm/blocks.hpp"
#include "comm/c_api/boundary.hpp"
#include "comm/c_api/group.hpp"
#include "comm/c_api/requests.hpp"
#include "comm/c_api/vocabulary.hpp"
#include "comm/check.hpp"

namespace weft::comm::c_api {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Counts must be there before anything is made of them.
Status check_counts(const Operation& operation, int rank) {
  if (!operation.uneven) return {};
  constexpr const char* kRemedy = "give the elements of each rank's block";
  if (has_in_blocks(operation, rank) && operation.in_blocks.counts == nullptr)
    return null_argument("sendcounts", kRemedy);
  if (has_out_blocks(operation, rank) && operation.out_blocks.counts == nullptr)
    return null_argument("recvcounts", kRemedy);
  return {};
}

Status check_buffers(const Operation& operation, int rank, int size) {
  const Footprint needs = footprint(operation, rank, size);
  if (needs.in_bytes > 0 && operation.in == nullptr) {
    return Status(Code::InvalidArgument,
                  fmt::format("sendbuff is null, but rank {} has {} bytes to give", rank, needs.in_bytes));
  }
  if (needs.out_bytes > 0 && operation.out == nullptr) {
    return Status(Code::InvalidArgument,
                  fmt::format("recvbuff is null, but rank {} receives {} bytes", rank, needs.out_bytes));
  }
  if (needs.fits(operation.in, operation.out)) return {};
  return Status(
      Code::InvalidArgument,
      fmt::format("sendbuff (of {} bytes) and recvbuff (of {}) overlap but are not in place; weft/weft.h says "
                  "how they must lie to be",
                  needs.in_bytes, needs.out_bytes));
}

Status run(weft_comm& comm, const Operation& operation) {
  Status status = comm.communicator.run(operation);
  if (status.ok()) [[likely]]
    return status;
  return in_words_of_c(operation, comm.communicator.rank(), comm.communicator.size(), std::move(status));
}

// The request is there before the operation: afterwards nothing may fail any more.
Status start(weft_comm& comm, const Operation& operation, weft_request_t* request) {
  OpenedRequest opened(comm);
  opened->work = comm.communicator.start(operation);
  if (opened->work.test()) {
    Status status = opened->work.wait();
    if (!status.ok())
      return in_words_of_c(operation, comm.communicator.rank(), comm.communicator.size(), std::move(status));
  }
  *request = opened.hand_out();
  return {};
}

}  // namespace

Status in_words_of_c(const Operation& operation, int rank, int size, Status status) {
  if (status.code() != Code::InvalidArgument) return status;
  WEFT_TRY(check_counts(operation, rank));
  if (check_call(operation, rank, size).ok()) WEFT_TRY(check_buffers(operation, rank, size));
  // "reduce: root 7 is not ..."; the function's name comes before it.
  std::string text(status.message());
  const std::string name = name_of(operation) + ": ";
  if (text.starts_with(name)) text.erase(0, name.size());
  text = replaced(std::move(text), "in_blocks", "send block");
  return Status(status.code(), replaced(std::move(text), "out_blocks", "recv block"), status.peer());
}

weft_status_t call(const char* function, weft_comm* comm, weft_request_t* request, Operation operation,
                   const CallTypes& types) {
  if (request != nullptr) *request = nullptr;
  return collectively(function, comm, [&](weft_comm& known) -> Status {
    WEFT_TRY_ASSIGN(operation.dtype, to_cpp(types.datatype));
    WEFT_TRY_ASSIGN(operation.op, to_cpp(types.op));
    WEFT_TRY_ASSIGN(operation.quantisation, to_cpp(types.quantisation));
    if (request == nullptr && this_threads_group().depth == 0) [[likely]]
      return run(known, operation);
    RequestPlace place(request);
    return start(known, operation, place.get());
  });
}

}  // namespace weft::comm::c_api
