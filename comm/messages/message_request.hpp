// MessageRequest: a send or receive in flight. Owned by the communicator; the address stays put while it is in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "weft/message.hpp"
#include "weft/status.hpp"

namespace weft::comm {

struct MessageRequest {
  Message message;
  std::uint64_t bytes = 0;       // to send; room to receive
  std::int32_t* left = nullptr;  // 1 while in flight, 0 once done
  std::uint64_t order = 0;       // among the communicator's messages
  std::optional<base::Deadline> deadline;
  bool late = false;                         // it has passed, when the message had begun to move
  std::vector<std::byte>* object = nullptr;  // a receive of any length: takes the size of the message

  // Of a receive: the message that it takes. Of a send: moved.
  Received received;
  std::byte* to = nullptr;
  std::uint64_t total = 0;
  std::uint64_t moved = 0;  // bytes received; of a send, given to slices
  std::uint32_t id = 0;     // of an announced message
  Status outcome;           // other than OK where the request alone failed

  bool is_send() const { return message.direction == Direction::Send; }
  const std::byte* from() const { return static_cast<const std::byte*>(message.in); }
  bool takes(int source, int tag) const {
    return (message.peer == kAnySource || message.peer == source) && (message.tag == kAnyTag || message.tag == tag);
  }
  // Whether a receive has room for a message, and its elements are whole.
  bool fits(std::uint64_t length) const {
    return object != nullptr || (length <= bytes && length % size_of(message.dtype) == 0);
  }
};

// "send of 100 float32 to rank 1, tag 7", "receive of up to 100 float32 from any rank, any tag".
std::string describe(const MessageRequest& request);

// The receive takes this message from now on; or why it cannot, and then nothing has changed.
Status begin_receive(MessageRequest& request, int source, int tag, std::uint64_t bytes);

}  // namespace weft::comm
