// Messages: all sends and receives of a communicator: a lane to each peer that one of them named, and the mailbox in
// which messages meet their receives. Matching happens here and only here.
//
// Passive, as the engine: it moves only while somebody calls advance(). One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/messages/mailbox.hpp"
#include "comm/messages/message_lane.hpp"
#include "comm/messages/message_request.hpp"

namespace weft::comm {

class Messages final : private MessageSink {
 public:
  Messages(int rank, int size) : rank_(rank), lanes_(static_cast<std::size_t>(size)) {}

  // Lanes are opened before a request that needs them is started.
  bool has_lane(int peer) const { return lanes_[static_cast<std::size_t>(peer)] != nullptr; }
  void add_lane(int peer, std::unique_ptr<transports::Endpoint> endpoint, std::size_t slice);
  MessageLane& lane(int peer) { return *lanes_[static_cast<std::size_t>(peer)]; }

  // *request.left is 1. May be done at once.
  void start(MessageRequest& request);
  // Ends a request in flight whose deadline has passed with a Timeout, unless its message has begun to move. True if it
  // did. The request has a deadline.
  bool withdraw_if_late(MessageRequest& request);
  // Ends the request with `outcome`, unless its message has begun to move: then false.
  bool withdraw(MessageRequest& request, Status outcome);
  // Whether a send of this rank to itself would be done at once.
  bool can_send_here(const Message& message, std::uint64_t bytes);

  // One round over all lanes. True if anything moved.
  bool advance();
  std::int32_t running() const { return running_; }
  std::uint64_t movements() const { return movements_; }
  // The peers that the request waits for: those with a lane, if any would do.
  std::vector<int> awaited(const MessageRequest& request) const;

  // Messages to a peer, and those of it that were received.
  std::uint64_t sent_to(int peer) const;
  std::uint64_t taken_from(int peer) const;
  const Arrival* left_over(int source) const { return mailbox_.left_over(source); }

  // For Cost.
  int lanes() const;
  std::uint64_t lane_bytes() const;

  // Afterwards no transport touches a buffer. The deadline is that of all lanes together. Nothing may be started any
  // more; whoever has requests in flight ends them.
  void cancel(int deadline_ms);

 private:
  void start_receive(MessageRequest& receive);
  void start_here(MessageRequest& send);
  void take(Arrival& arrival, MessageRequest& receive);
  MessageRequest* receive_for(int source, int tag, std::uint64_t bytes);
  void fail(MessageRequest& request, Status outcome);
  void count_taken(int source, std::int64_t messages);

  // MessageSink
  Place eager(int source, int tag, std::uint64_t bytes) override;
  void eager_is_here(int source, const Place& place, std::uint64_t bytes) override;
  void announced(int source, int tag, std::uint64_t bytes, std::uint32_t id) override;
  void withdrawn(int source, std::uint32_t id) override;
  void receive_again(MessageRequest& receive) override;
  void done(MessageRequest& request) override;

  int rank_;
  Mailbox mailbox_;                                  // outlives the lanes, which may write into what came
  std::vector<std::unique_ptr<MessageLane>> lanes_;  // by peer; null: not opened
  std::vector<MessageLane*> open_;
  std::size_t turn_ = 0;         // which of them is first in this round
  std::uint32_t here_used_ = 0;  // eager room of this rank's messages to itself
  std::uint64_t sent_here_ = 0;
  std::uint64_t taken_here_ = 0;
  std::uint64_t orders_ = 0;
  std::int32_t running_ = 0;
  std::uint64_t movements_ = 0;
};

}  // namespace weft::comm
