// SlotEndpoint and SlotConnection: lanes over a Segment, whoever provides its memory (local: threads, shm: processes).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "transports/peer_memory.hpp"
#include "transports/segment.hpp"
#include "transports/slot_receiver.hpp"
#include "transports/slot_ring.hpp"
#include "transports/slot_sender.hpp"
#include "transports/transport.hpp"

namespace weft::transports {

// Whether the rank at the other side of a segment still lives. Cold path, any thread.
class PeerWatch {
 public:
  virtual ~PeerWatch() = default;
  virtual Status check() = 0;  // PeerLost once it is gone
  virtual int descriptors() const { return 0; }
};

// How memory of the peer is mapped here.
class RegionMapper {
 public:
  virtual ~RegionMapper() = default;
  virtual Result<Region> map(std::uint32_t region, int deadline_ms) = 0;
  virtual void unmap(std::uint32_t region) = 0;
};

// What joins this rank to a peer. All outlive the connection.
struct SlotPeer {
  SegmentSide& side;
  PeerWatch& watch;
  ConnectionRegions& regions;
  RegionMapper& mapper;
  FanOutMemory& fan_outs;     // this rank's
  const PeerMemory* process;  // null: the peer's memory may not be read
  int rank;
};

class SlotEndpoint final : public Endpoint {
 public:
  // What `peer` refers to outlives the endpoint.
  SlotEndpoint(const SlotPeer& peer, const SegmentSide::Lane& lane)
      : fan_out_(peer.fan_outs, lane.id),
        sender_(peer.side.send_ring(lane), peer.side.layout(), {&peer.regions.ours, &peer.side.read_by_peer()}),
        peer_(peer),
        lane_(lane) {}
  SlotEndpoint(const SlotEndpoint&) = delete;
  SlotEndpoint& operator=(const SlotEndpoint&) = delete;
  ~SlotEndpoint() override;

  bool send(const void* data, std::size_t bytes, const Signature& signature) override {
    return sender_.send(data, bytes, signature);
  }
  Stage stage(std::size_t bytes, const void* source) override { return {sender_.stage(bytes, source), sender_.far()}; }
  FanOut* fan_out() override;
  void set_traffic(Traffic traffic) override { sender_.set_traffic(traffic); }
  bool refers(const void* data, std::size_t bytes) override { return sender_.refers(data, bytes); }
  const void* receive(std::size_t bytes, void* landing, const Signature& expected) override {
    if (!receiver_.attached() && !attach()) [[unlikely]]
      return nullptr;
    return receiver_.receive(bytes, landing, expected);
  }
  void release() override { receiver_.release(); }
  std::uint64_t sends_done() override { return sender_.done(); }
  bool unexpected(Unexpected* what) override;
  bool peek(Unexpected* what) override;
  Status failure() override;
  void cancel(int deadline_ms) override;
  std::uint64_t memory_bytes() const override { return peer_.side.layout().ring_bytes(); }

 private:
  bool attach();

  // The lane's FanOut, from when it is asked for until the sender has left it.
  class OwnFanOut {
   public:
    OwnFanOut(FanOutMemory& memory, std::uint64_t lane) : memory_(memory), lane_(lane) {}
    OwnFanOut(const OwnFanOut&) = delete;
    OwnFanOut& operator=(const OwnFanOut&) = delete;
    ~OwnFanOut() {
      if (opened_) memory_.close(lane_, std::move(all_read_));
    }

    FanOut* open() {
      FanOut* const fan_out = memory_.open(lane_);
      opened_ = fan_out != nullptr;
      return fan_out;
    }
    void keep_until(FanOutMemory::AllRead all_read) { all_read_ = std::move(all_read); }

   private:
    FanOutMemory& memory_;
    std::uint64_t lane_;
    bool opened_ = false;
    FanOutMemory::AllRead all_read_;
  };

  OwnFanOut fan_out_;
  // What a message touches, on lines of their own: the senders and receivers of other lanes may be other threads.
  alignas(64) SlotSender sender_;
  alignas(64) SlotReceiver receiver_;
  alignas(64) SlotPeer peer_;
  SegmentSide::Lane lane_;
  bool cancelled_ = false;
};

class SlotConnection final : public Connection {
 public:
  explicit SlotConnection(const SlotPeer& peer) : peer_(peer) {}
  Result<std::unique_ptr<Endpoint>> open_lane(std::uint64_t lane) override;
  Status map(std::uint32_t region, int deadline_ms) override;
  void unmap(std::uint32_t region) override;
  Status share(const Region& region) override;
  void unshare(std::uint32_t region) override { peer_.regions.ours.remove(region); }

 private:
  SlotPeer peer_;
};

}  // namespace weft::transports
