// A request in words, and whether a message fits it.
#include "comm/messages/message_request.hpp"

#include <fmt/format.h>

#include <new>
#include <stdexcept>

namespace weft::comm {
namespace {

std::string numbered(std::string_view what, int number) {
  return number < 0 ? fmt::format("any {}", what) : fmt::format("{} {}", what, number);
}

Status still_there(int source, int tag, std::uint64_t bytes, std::string_view wrong) {
  return Status(
      Code::InvalidArgument,
      fmt::format("receive: the message from rank {} with tag {} has {} bytes, but {}; it is still there to be "
                  "received",
                  source, tag, bytes, wrong),
      source);
}

}  // namespace

std::string describe(const MessageRequest& request) {
  const Message& message = request.message;
  if (request.is_send()) {
    return fmt::format("send of {} {} to rank {}, tag {}", message.count, to_string(message.dtype), message.peer,
                       message.tag);
  }
  const std::string what =
      request.object != nullptr ? "bytes" : fmt::format("up to {} {}", message.count, to_string(message.dtype));
  return fmt::format("receive of {} from {}, {}", what, numbered("rank", message.peer), numbered("tag", message.tag));
}

Status begin_receive(MessageRequest& request, int source, int tag, std::uint64_t bytes) {
  const std::uint64_t element = size_of(request.message.dtype);
  if (request.object != nullptr) {
    try {
      request.object->resize(bytes);
    } catch (const std::exception&) {
      return Status(
          Code::ResourceExhausted,
          fmt::format("receive: no memory for the {} bytes of the message from rank {} with tag {}; it is still "
                      "there to be received",
                      bytes, source, tag),
          source);
    }
    request.to = request.object->data();
  } else {
    if (bytes > request.bytes) {
      return still_there(source, tag, bytes,
                         fmt::format("the buffer holds {} ({} {})", request.bytes, request.message.count,
                                     to_string(request.message.dtype)));
    }
    if (bytes % element != 0)
      return still_there(source, tag, bytes,
                         fmt::format("that is no whole number of {}", to_string(request.message.dtype)));
    request.to = static_cast<std::byte*>(request.message.out);
  }
  request.received = {source, tag, bytes / element};
  request.total = bytes;
  request.moved = 0;
  return {};
}

}  // namespace weft::comm
