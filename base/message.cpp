// Message: sends and receives by name.
#include "weft/message.hpp"

namespace weft {

Message send(const void* in, std::uint64_t count, DataType dtype, int peer, int tag) {
  Message message;
  message.direction = Direction::Send;
  message.in = in;
  message.count = count;
  message.dtype = dtype;
  message.peer = peer;
  message.tag = tag;
  return message;
}

Message receive(void* out, std::uint64_t count, DataType dtype, int peer, int tag) {
  Message message;
  message.direction = Direction::Receive;
  message.out = out;
  message.count = count;
  message.dtype = dtype;
  message.peer = peer;
  message.tag = tag;
  return message;
}

}  // namespace weft
