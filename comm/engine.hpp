// Engine: runs bound plans. Passive: it moves only while somebody calls advance().
//
// Operations are started in order; a channel runs the operations that use it in that order, one after another, and an
// operation is done when all its channels are. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/bound_plan.hpp"
#include "comm/lane.hpp"
#include "comm/ring_queue.hpp"
#include "transports/transport.hpp"
#include "weft/status.hpp"

namespace weft::comm {

// An operation in flight. Owned by the communicator; the address stays put while it runs.
struct ActiveOperation {
  BoundPlan* plan = nullptr;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  transports::Signature signature;
  std::int32_t channels_left = 0;  // 0: done (or never started)
};

// What a blocked channel waits for, for reports and for finding out who is late.
struct Blocked {
  int channel = 0;
  int peer = -1;  // -1: not blocked on a peer
  std::uint16_t lane = kNoLane;
  bool sending = false;  // waits for room or for a send to end, not for a message
  std::size_t step = 0;
  std::size_t steps = 0;
  const ActiveOperation* operation = nullptr;
};

class Engine final {
 public:
  // Lanes are added on the set-up path, while plans are bound.
  std::uint16_t add_lane(std::unique_ptr<transports::Endpoint> endpoint, int peer, std::size_t slice);
  Lane& lane(std::uint16_t index) { return *lanes_[index]; }
  const Lane& lane(std::uint16_t index) const { return *lanes_[index]; }
  std::size_t lanes() const { return lanes_.size(); }

  // Makes room for a plan; set-up path. ResourceExhausted if there is no memory for its scratch.
  Status prepare(const BoundPlan& plan);

  // operation.plan was prepared; bases and signature are set.
  void start(ActiveOperation& operation) {
    const std::size_t channels = operation.plan->channels.size();
    operation.channels_left = static_cast<std::int32_t>(channels);
    ++operation.plan->in_flight;
    ++running_;
    for (std::size_t channel = 0; channel < channels; ++channel) {
      // Most calls find their channels idle.
      if (channels_[channel].current == nullptr && channels_[channel].queue.empty()) {
        begin(channels_[channel], channel, operation);
      } else {
        channels_[channel].queue.push(&operation);
      }
    }
  }

  // One round over all channels with work. True if anything moved.
  bool advance();

  std::int32_t running() const { return running_; }
  // Grows whenever anything moves.
  std::uint64_t movements() const { return movements_; }
  void blocked(std::vector<Blocked>* out) const;
  // Set aside for what is on its way, also by operations that are done.
  std::uint64_t scratch_bytes() const;

  // Gives up everything in flight: afterwards no transport touches a buffer and no operation is running. The deadline
  // is that of all lanes together.
  void cancel(int deadline_ms);

 private:
  // Scratch memory, aligned to cache lines; touched only when used.
  struct Arena {
    struct Free {
      void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte, Free> memory;
    std::uint64_t bytes = 0;
  };

  struct Channel {
    ActiveOperation* current = nullptr;
    const Instruction* next = nullptr;
    const Instruction* end = nullptr;
    // The current instruction, if it receives: how many bytes of the message were taken and how many of dst written.
    // Fewer are written while a send still reads dst; those between wait in scratch.
    std::size_t taken = 0;
    std::size_t done = 0;
    bool receiving = false;        // it has begun
    bool whole = false;            // all of the message was taken
    std::byte* offered = nullptr;  // landing given to receive() for the slice being waited for
    // Of the sends of the same bytes to several peers: where they lie for all of them, and whose memory that is; null:
    // nowhere.
    const std::byte* shared = nullptr;
    const transports::FanOut* shared_by = nullptr;
    const BoundChannel* program = nullptr;
    std::uint32_t passes_left = 0;      // after this one
    std::array<std::byte*, 3> bases{};  // of the current operation, by Base
    RingQueue<ActiveOperation*> queue;  // operations that wait for this channel
    // The newest is used by operations that begin; older ones may still be in use by the current one.
    std::vector<Arena> arenas;

    Status reserve_scratch(std::uint64_t bytes);
    std::byte* at(Base base, std::uint64_t offset) const { return bases[static_cast<std::size_t>(base)] + offset; }
  };

  void share_lanes(const std::vector<Instruction>& instructions);
  bool advance(std::size_t index);
  void begin(Channel& channel, std::size_t index, ActiveOperation& operation);
  void begin_pass(Channel& channel);
  bool execute(Channel& channel, const Instruction& instruction);
  void send_shared(Channel& channel, const Instruction& instruction);
  static void hand_over(const Channel& channel, Lane& lane, const std::byte* src, std::size_t bytes);
  static std::byte* shared_slot(Channel& channel, Lane& lane, const std::byte* src, std::size_t bytes);
  static transports::Stage stage(Channel& channel, const Instruction& instruction, Lane& out);
  bool receive(Channel& channel, const Instruction& instruction, bool forwards);
  bool receive_at_once(Channel& channel, const Instruction& instruction, bool forwards);
  bool receive_by_slices(Channel& channel, const Instruction& instruction, bool forwards);
  void forward_empty(const Channel& channel, const Instruction& instruction, bool forwards);
  static std::byte* landing(const Channel& channel, const Instruction& instruction);
  static std::byte* offer(const Channel& channel, const Instruction& instruction, bool writable);
  void write(Channel& channel, const Instruction& instruction, const std::byte* message, std::size_t bytes,
             bool forwards);
  static void put(const Channel& channel, const Instruction& instruction, const std::byte* message, std::size_t done,
                  std::size_t bytes, transports::Stage stage);
  void local(const Channel& channel, const Instruction& instruction);
  static void quantise(const Channel& channel, const Instruction& instruction);
  bool drained(Channel& channel);
  void finish(Channel& channel);

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Channel> channels_;
  std::int32_t running_ = 0;
  std::uint64_t movements_ = 0;
};

}  // namespace weft::comm
