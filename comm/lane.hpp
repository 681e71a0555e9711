// Lane: the engine's view of one endpoint: the messages that wait for room, and how many were handed over.
//
// A message longer than the lane's slice is cut into slices. A message that is still being received (a fused step)
// becomes sendable slice by slice: `ready` grows behind the receive. Both ends cut alike because a lane has one
// transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "comm/ring_queue.hpp"
#include "transports/transport.hpp"

namespace weft::comm {

class Lane final {
 public:
  Lane(std::unique_ptr<transports::Endpoint> endpoint, int peer, std::size_t slice)
      : endpoint_(std::move(endpoint)), slice_(slice), peer_(peer) {}

  transports::Endpoint& endpoint() { return *endpoint_; }
  int peer() const { return peer_; }
  std::size_t slice() const { return slice_; }
  std::uint32_t slices(std::size_t bytes) const {
    return bytes <= slice_ ? 1 : static_cast<std::uint32_t>((bytes + slice_ - 1) / slice_);
  }

  // Room for the messages of a plan; set-up path.
  void reserve(std::size_t messages) { queue_.reserve(messages); }
  // A plan sends on it what goes to other peers, too; set-up path.
  void share() {
    if (fan_out_ == nullptr) fan_out_ = endpoint_->fan_out();
  }

  // An operation begins: waits count from here.
  void mark(transports::Traffic traffic) {
    mark_ = enqueued_;
    if (traffic != traffic_) [[unlikely]]
      endpoint_->set_traffic(traffic_ = traffic);
  }

  // Posts now if it can, else queues. Returns false if it was queued.
  bool send(const std::byte* data, std::size_t bytes, const transports::Signature& signature) {
    if (queue_.empty() && bytes <= slice_ && endpoint_->send(data, bytes, signature)) {
      ++enqueued_;
      return true;
    }
    push(data, bytes, bytes);
    return pump(signature);
  }

  // Posts now a message whose source need not stay as it is: a slot of fan_out(). False: it cannot now.
  bool post(const std::byte* slot, std::size_t bytes, const transports::Signature& signature) {
    if (!queue_.empty() || !endpoint_->send(slot, bytes, signature)) return false;
    ++enqueued_;
    return true;
  }

  // Where the next message may be written, to be then given to send(). See Endpoint::stage.
  transports::Stage stage(std::size_t bytes, const std::byte* source) {
    return queue_.empty() && bytes <= slice_ ? endpoint_->stage(bytes, source) : transports::Stage();
  }

  // Where what goes to this peer and others may be written, see Endpoint::fan_out; null before share(), or if there is
  // none.
  transports::FanOut* fan_out() const { return fan_out_; }
  bool refers(const std::byte* source, std::size_t bytes) { return endpoint_->refers(source, bytes); }

  // Queues a message of `total` bytes of which the first `ready` exist.
  void push(const std::byte* data, std::size_t total, std::size_t ready) {
    queue_.push(Message{data, total, ready, 0});
    enqueued_ += slices(total);
  }

  // `bytes` more of the newest queued message exist.
  void extend(std::size_t bytes) { queue_.back().ready += bytes; }

  // Hands over what there is room for. True when nothing is left in the queue.
  bool pump(const transports::Signature& signature) {
    while (!queue_.empty()) {
      Message& message = queue_.front();
      const std::size_t left = message.total - message.sent;
      const std::size_t want = left < slice_ ? left : slice_;
      if (message.ready - message.sent < want) return false;
      if (!endpoint_->send(message.data + message.sent, want, signature)) return false;
      message.sent += want;
      if (message.sent == message.total) queue_.pop();
    }
    return true;
  }

  bool queue_empty() const { return queue_.empty(); }
  // The first `slices` slices since mark() no longer read their source.
  bool sent(std::uint32_t slices) { return reached(mark_ + slices); }
  bool all_sent() { return queue_.empty() && reached(enqueued_); }

 private:
  bool reached(std::uint64_t slices) {
    if (done_ >= slices) return true;
    done_ = endpoint_->sends_done();
    return done_ >= slices;
  }

  struct Message {
    const std::byte* data;
    std::size_t total;
    std::size_t ready;
    std::size_t sent;
  };

  std::unique_ptr<transports::Endpoint> endpoint_;
  transports::FanOut* fan_out_ = nullptr;  // of the endpoint
  std::size_t slice_;
  std::uint64_t enqueued_ = 0;  // slices, since the lane was opened
  std::uint64_t mark_ = 0;
  std::uint64_t done_ = 0;  // sends, as last asked
  RingQueue<Message> queue_;
  int peer_;
  transports::Traffic traffic_ = transports::Traffic::OneWay;
};

}  // namespace weft::comm
