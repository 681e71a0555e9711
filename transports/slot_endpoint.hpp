// SlotEndpoint and SlotConnection: lanes over a Segment, whoever provides its memory (local: threads, shm: processes).
#pragma once

#include <memory>

#include "transports/segment.hpp"
#include "transports/slot_ring.hpp"
#include "transports/transport.hpp"

namespace weft::transports {

// Whether the rank at the other side of a segment still lives. Cold path, any thread.
class PeerWatch {
 public:
  virtual ~PeerWatch() = default;
  virtual Status check() = 0;  // PeerLost once it is gone
  virtual int descriptors() const { return 0; }
};

class SlotEndpoint final : public Endpoint {
 public:
  // `side` and `watch` outlive the endpoint.
  SlotEndpoint(SegmentSide& side, const SegmentSide::Lane& lane, PeerWatch& watch, int peer_rank)
      : sender_(side.send_ring(lane), side.layout()), side_(side), lane_(lane), watch_(watch), peer_rank_(peer_rank) {}
  SlotEndpoint(const SlotEndpoint&) = delete;
  SlotEndpoint& operator=(const SlotEndpoint&) = delete;
  ~SlotEndpoint() override { side_.close(lane_); }

  bool send(const void* data, std::size_t bytes, const Signature& signature) override {
    return sender_.send(data, bytes, signature);
  }
  Stage stage(std::size_t bytes) override { return {sender_.stage(bytes), sender_.far()}; }
  const void* receive(std::size_t bytes, void* /*landing*/, const Signature& expected) override {
    if (!receiver_.attached() && !attach()) [[unlikely]]
      return nullptr;
    return receiver_.receive(bytes, expected);
  }
  void release() override { receiver_.release(); }
  std::uint64_t sends_done() override { return sender_.posted(); }
  bool unexpected(Unexpected* what) override;
  bool peek(Unexpected* what) override;
  Status failure() override;
  void cancel(int deadline_ms) override;
  std::uint64_t memory_bytes() const override { return side_.layout().ring_bytes(); }

 private:
  bool attach();

  // What a message touches, on lines of their own: the senders and receivers of other lanes may be other threads.
  alignas(64) SlotSender sender_;
  alignas(64) SlotReceiver receiver_;
  alignas(64) SegmentSide& side_;
  SegmentSide::Lane lane_;
  PeerWatch& watch_;
  int peer_rank_;
  bool cancelled_ = false;
};

class SlotConnection final : public Connection {
 public:
  SlotConnection(SegmentSide& side, PeerWatch& watch, int peer_rank)
      : side_(side), watch_(watch), peer_rank_(peer_rank) {}
  Result<std::unique_ptr<Endpoint>> open_lane(std::uint64_t lane) override;

 private:
  SegmentSide& side_;
  PeerWatch& watch_;
  int peer_rank_;
};

}  // namespace weft::transports
