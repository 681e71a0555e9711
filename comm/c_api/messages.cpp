// weft_send and weft_recv.
#include <string>
#include <string_view>

#include "comm/c_api/boundary.hpp"
#include "comm/c_api/group.hpp"
#include "comm/c_api/vocabulary.hpp"
#include "weft/message.hpp"

namespace weft::comm::c_api {
namespace {

// "send: peer 7 is not ..."; the function's name comes before it.
Status in_words_of_c(Status status) {
  if (status.code() != Code::InvalidArgument) return status;
  std::string text(status.message());
  for (const std::string_view name : {"send: ", "receive: "})
    if (text.starts_with(name)) text.erase(0, name.size());
  if (const std::size_t at = text.find("kAnyTag"); at != std::string::npos) text.replace(at, 7, "WEFT_ANY_TAG");
  return Status(status.code(), std::move(text), status.peer());
}

Status run(weft_comm& comm, const Message& message, weft_received_t* received) {
  const Result<Received> outcome = comm.communicator.run(message);
  if (!outcome.has_value()) return in_words_of_c(outcome.error());
  if (received != nullptr) *received = {outcome->count, outcome->source, outcome->tag};
  return {};
}

Status start(weft_comm& comm, const Message& message, weft_received_t* received, weft_request_t* request) {
  weft_request* const opened = comm.requests.take(comm);
  opened->received = received;
  opened->work = comm.communicator.start(message);
  // One that failed at once was never started.
  if (opened->work.test()) {
    Status status = wait_for_end(*opened);
    if (!status.ok()) {
      comm.requests.give_back(*opened);
      return in_words_of_c(std::move(status));
    }
  }
  *request = opened;
  return {};
}

weft_status_t call(const char* function, weft_comm* comm, weft_request_t* request, Message message,
                   weft_data_type_t datatype, weft_received_t* received) {
  if (request != nullptr) *request = nullptr;
  return collectively(function, comm, [&](weft_comm& known) -> Status {
    WEFT_TRY_ASSIGN(message.dtype, to_cpp(datatype));
    RequestPlace place(request);
    return place.get() == nullptr ? run(known, message, received) : start(known, message, received, place.get());
  });
}

}  // namespace
}  // namespace weft::comm::c_api

// The type is replaced by call().
weft_status_t weft_send(const void* sendbuff, size_t count, weft_data_type_t datatype, int peer, int tag,
                        weft_comm_t comm, weft_request_t* request) {
  const weft::Message message = weft::send(sendbuff, count, weft::DataType::UInt8, peer, tag);
  return weft::comm::c_api::call("weft_send", comm, request, message, datatype, nullptr);
}

weft_status_t weft_recv(void* recvbuff, size_t count, weft_data_type_t datatype, int peer, int tag,
                        weft_received_t* received, weft_comm_t comm, weft_request_t* request) {
  const weft::Message message = weft::receive(recvbuff, count, weft::DataType::UInt8, peer, tag);
  return weft::comm::c_api::call("weft_recv", comm, request, message, datatype, received);
}
