// Mailbox: where messages and receives meet. Messages that came and that nobody has asked for, in the order in which
// they came, and receives whose message has not come, in the order in which they were started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "comm/messages/message_request.hpp"

namespace weft::comm {

// A message that came before its receive.
struct Arrival {
  int source = 0;
  int tag = 0;
  std::uint64_t bytes = 0;
  std::unique_ptr<std::byte[]> data = {};  // null: announced, or a send of this rank to itself
  bool announced = false;
  std::uint32_t id = 0;             // if announced
  MessageRequest* local = nullptr;  // this rank's own send, which waits
  bool whole = true;                // all of data is here
  MessageRequest* taker = nullptr;  // of a message that was asked for before it was whole
};

class Mailbox final {
 public:
  // The first message that the receive would take; null: none.
  Arrival* find(const MessageRequest& receive);
  // The first receive that would take the message; null: none.
  MessageRequest* find(int source, int tag);
  // Whether any receive would take the message and has room for it.
  bool finds_room(int source, int tag, std::uint64_t bytes) const;

  Arrival& keep(Arrival arrival);
  void drop(const Arrival& arrival);
  // In the order of the requests.
  void post(MessageRequest& receive);
  // False: it is not posted.
  bool remove(const MessageRequest& receive);

  Arrival* announced(int source, std::uint32_t id);
  Arrival* sent_here(const MessageRequest& send);
  // Any message of that source that nobody took.
  const Arrival* left_over(int source) const;
  void clear();

 private:
  std::list<Arrival> arrivals_;
  std::vector<MessageRequest*> posted_;
};

}  // namespace weft::comm
