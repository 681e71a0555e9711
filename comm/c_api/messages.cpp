// weft_send and weft_recv, and the same with options.
#include "comm/c_api/messages.hpp"

#include <string>
#include <string_view>

#include "comm/c_api/boundary.hpp"
#include "comm/c_api/group.hpp"
#include "comm/c_api/options.hpp"
#include "comm/c_api/requests.hpp"
#include "comm/c_api/vocabulary.hpp"
#include "weft/message.hpp"

namespace weft::comm::c_api {
// "send: peer 7 is not ..."; the function's name comes before it.
Status in_words_of_c(Status status) {
  if (status.code() != Code::InvalidArgument) return status;
  std::string text(status.message());
  for (const std::string_view name : {"send: ", "receive: "})
    if (text.starts_with(name)) text.erase(0, name.size());
  if (const std::size_t at = text.find("kAnyTag"); at != std::string::npos) text.replace(at, 7, "WEFT_ANY_TAG");
  return Status(status.code(), std::move(text), status.peer());
}

namespace {

Status run(weft_comm& comm, const Message& message, weft_received_t* received) {
  const Result<Received> outcome = comm.communicator.run(message);
  if (!outcome.has_value()) return in_words_of_c(outcome.error());
  if (received != nullptr) *received = {outcome->count, outcome->source, outcome->tag};
  return {};
}

Status start(weft_comm& comm, const Message& message, weft_received_t* received, weft_request_t* request) {
  OpenedRequest opened(comm);
  opened->received = received;
  opened->work = comm.communicator.start(message);
  // One that failed at once was never started.
  if (opened->work.test()) {
    Status status = wait_for_end(*opened);
    if (!status.ok()) return in_words_of_c(std::move(status));
  }
  *request = opened.hand_out();
  return {};
}

struct Call {
  const char* function;
  weft_data_type_t datatype;
  const weft_message_options_t* options = nullptr;
  weft_received_t* received = nullptr;
};

// Completes the message by the type and the options, and runs it, or with a request starts it.
weft_status_t call(const Call& made, weft_comm* comm, weft_request_t* request, Message message) {
  if (request != nullptr) *request = nullptr;
  return collectively(made.function, comm, [&](weft_comm& known) -> Status {
    WEFT_TRY_ASSIGN(message.dtype, to_cpp(made.datatype));
    if (made.options != nullptr) {
      WEFT_TRY_ASSIGN(const weft_message_options_t options, read_options(made.options));
      message.timeout_ms = options.timeout_ms;
    }
    RequestPlace place(request);
    return place.get() == nullptr ? run(known, message, made.received)
                                  : start(known, message, made.received, place.get());
  });
}

}  // namespace
}  // namespace weft::comm::c_api

using weft::comm::c_api::call;

// The type is replaced by call().
weft_status_t weft_send(const void* sendbuff, size_t count, weft_data_type_t datatype, int peer, int tag,
                        weft_comm_t comm, weft_request_t* request) {
  const weft::Message message = weft::send(sendbuff, count, weft::DataType::UInt8, peer, tag);
  return call({.function = "weft_send", .datatype = datatype}, comm, request, message);
}

weft_status_t weft_send_with(const void* sendbuff, size_t count, weft_data_type_t datatype, int peer, int tag,
                             const weft_message_options_t* options, weft_comm_t comm, weft_request_t* request) {
  const weft::Message message = weft::send(sendbuff, count, weft::DataType::UInt8, peer, tag);
  return call({.function = "weft_send_with", .datatype = datatype, .options = options}, comm, request, message);
}

weft_status_t weft_recv(void* recvbuff, size_t count, weft_data_type_t datatype, int peer, int tag,
                        weft_received_t* received, weft_comm_t comm, weft_request_t* request) {
  const weft::Message message = weft::receive(recvbuff, count, weft::DataType::UInt8, peer, tag);
  return call({.function = "weft_recv", .datatype = datatype, .received = received}, comm, request, message);
}

weft_status_t weft_recv_with(void* recvbuff, size_t count, weft_data_type_t datatype, int peer, int tag,
                             weft_received_t* received, const weft_message_options_t* options, weft_comm_t comm,
                             weft_request_t* request) {
  const weft::Message message = weft::receive(recvbuff, count, weft::DataType::UInt8, peer, tag);
  return call({.function = "weft_recv_with", .datatype = datatype, .options = options, .received = received}, comm,
              request, message);
}
