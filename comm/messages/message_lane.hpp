// MessageLane: the messages between this rank and one peer, over an endpoint of their own.
//
// Out: a queue of frames, each followed by its payload. Accepted messages feed it slice by slice in turns, a few at a
// time, so that no message keeps the others from moving. In: a frame, and then where its payload goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "comm/messages/frame.hpp"
#include "comm/messages/mailbox.hpp"
#include "comm/messages/message_request.hpp"
#include "transports/transport.hpp"

namespace weft::comm {

// What a lane tells of what comes in, and of what is done.
class MessageSink {
 public:
  // Where an eager message's bytes go: into the receive that takes it, or an arrival.
  struct Place {
    std::byte* to = nullptr;
    MessageRequest* receive = nullptr;
    Arrival* arrival = nullptr;
  };
  virtual ~MessageSink() = default;
  virtual Place eager(int source, int tag, std::uint64_t bytes) = 0;
  virtual void eager_is_here(int source, const Place& place, std::uint64_t bytes) = 0;
  virtual void announced(int source, int tag, std::uint64_t bytes, std::uint32_t id) = 0;
  virtual void withdrawn(int source, std::uint32_t id) = 0;
  // A receive whose message was withdrawn after all.
  virtual void receive_again(MessageRequest& receive) = 0;
  virtual void done(MessageRequest& request) = 0;
};

class MessageLane final {
 public:
  MessageLane(std::unique_ptr<transports::Endpoint> endpoint, int peer, std::size_t slice, MessageSink& sink)
      : sink_(sink), slice_(slice), peer_(peer), endpoint_(std::move(endpoint)) {}

  int peer() const { return peer_; }
  transports::Endpoint& endpoint() { return *endpoint_; }

  void send(MessageRequest& request);
  // Asks the peer for a message that it announced.
  void accept(MessageRequest& receive, std::uint32_t id);
  // False: its bytes are on the way.
  bool withdraw(MessageRequest& send);
  // An eager message was taken out of the room that this rank keeps for the peer.
  void give_room(std::uint64_t bytes) { given_ += eager_cost(bytes); }

  // True if anything moved. Takes in no more once a request is done.
  bool advance();
  // Not OK once the peer sent what is no frame.
  const Status& broken() const { return broken_; }

  std::uint64_t sent = 0;   // messages to the peer, but for those withdrawn
  std::uint64_t taken = 0;  // of the peer's messages, by receives of this rank

 private:
  struct Item {
    Frame frame;
    const std::byte* data = nullptr;
    std::size_t bytes = 0;              // that follow the frame
    MessageRequest* request = nullptr;  // of Eager and Slice
    bool last = false;                  // with it the request is done
    bool begun = false;                 // the frame was posted
    std::uint64_t end = 0;              // of all that was posted, once all of the item was
  };

  void push(const Frame& frame) { items_.push_back({.frame = frame}); }
  bool post(Item& item);
  bool move_out();
  bool push_slice();
  void settle(const Item& item);
  bool take_in();
  void handle(const Frame& frame);
  void slice_begins(const Frame& frame);
  void payload_is_here();
  bool fits_eager(std::uint64_t bytes) const;

  MessageSink& sink_;
  std::size_t slice_;
  int peer_;
  Status broken_;

  std::deque<Item> items_;  // deque: what is posted is read where it lies
  std::size_t posted_items_ = 0;
  std::size_t slices_ = 0;  // among the items
  std::uint64_t posted_ = 0;
  std::vector<MessageRequest*> announced_;  // sends that wait to be accepted
  std::deque<MessageRequest*> accepted_;    // sends with bytes that are not in slices yet
  std::uint32_t next_id_ = 0;
  std::uint32_t used_ = 0;   // eager room taken at the peer so far; wraps, as do the others
  std::uint32_t back_ = 0;   // of it, given back
  std::uint32_t room_ = 0;   // taken here by the peer so far
  std::uint32_t given_ = 0;  // room given back to the peer
  std::uint32_t told_ = 0;   // of it, told

  struct Receiving {
    std::uint32_t id;
    MessageRequest* receive;
  };
  struct Payload {
    bool awaited = false;
    bool slice = false;
    std::size_t bytes = 0;
    MessageSink::Place place;
  };
  std::vector<Receiving> receiving_;
  Frame landing_;
  Payload payload_;
  bool finished_one_ = false;
  std::unique_ptr<transports::Endpoint> endpoint_;  // ends first: it may read items and write the landing until then
};

}  // namespace weft::comm
