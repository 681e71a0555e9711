// Program: what an algorithm's moves mean for each rank, before places, scratch and waits are chosen. Made by the
// builder, read by the lowering.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/schedule.hpp"

namespace weft::algorithms {

enum class EventKind : std::uint8_t {
  Send,  // this rank's value of the chunks goes to `peer`
  Recv,  // this rank's value becomes that of `peer`
  Fold,  // this rank's value becomes the fold of the values of `ranks`, itself among them, in their order
};

// One rank's part in one move. Events are in the order of moves; `move` numbers the moves over all ranks. Executing the
// moves one by one, in this order, is always possible: that is why a step may wait for sends of earlier moves, and only
// for those.
struct Event {
  EventKind kind = EventKind::Send;
  bool final_reduction = false;  // Fold: the result holds every rank's contribution
  std::int32_t channel = 0;
  std::int32_t peer = -1;
  std::int32_t move = 0;
  std::int32_t chunks_begin = 0;  // into Program::numbers
  std::int32_t chunks_count = 0;
  std::int32_t ranks_begin = 0;  // Fold only
  std::int32_t ranks_count = 0;
};

struct Program {
  Layout layout;
  int channels = 1;
  int native_channels = 1;
  int replicas = 1;
  std::vector<std::vector<Event>> events;  // by rank; empty for ranks that a projection leaves out
  std::vector<std::int32_t> numbers;       // chunk and rank lists of all events
  std::uint64_t hash = 0;
  bool canonical = false;  // folds are in the order of Numerics::Invariant

  std::span<const std::int32_t> chunks(const Event& event) const {
    return std::span(numbers).subspan(static_cast<std::size_t>(event.chunks_begin),
                                      static_cast<std::size_t>(event.chunks_count));
  }
  std::span<const std::int32_t> ranks(const Event& event) const {
    return std::span(numbers).subspan(static_cast<std::size_t>(event.ranks_begin),
                                      static_cast<std::size_t>(event.ranks_count));
  }
  // The channel of a chunk that no move touches: the first of its replica.
  int default_channel(int chunk) const {
    const int own = layout.chunks_per_block / replicas;
    return chunk % layout.chunks_per_block / own * native_channels;
  }
};

}  // namespace weft::algorithms
