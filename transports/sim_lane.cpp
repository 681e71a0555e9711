// What the adversary does to a message.
#include "transports/sim_lane.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace weft::transports {

namespace {

constexpr int kGarbage = 0xdb;

std::uint64_t mix(std::uint64_t value) {  // splitmix64
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

int draw(std::uint64_t random, int most) {
  return static_cast<int>(random % (static_cast<std::uint64_t>(std::max(most, 0)) + 1));
}

}  // namespace

SimEndpoint::~SimEndpoint() {
  forget_sends();
  lanes_.close(lane_, place_.self_rank, place_.peer_rank);
}

SimMessage SimEndpoint::fate(std::uint64_t number) const {
  std::uint64_t random = options_.seed;
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(place_.self_rank), static_cast<std::uint64_t>(place_.peer_rank), lane_.id, number}) {
    random = mix(random ^ part);
  }
  SimMessage message;
  message.delay = draw(random, options_.max_delay);
  message.lateness = draw(mix(random), options_.max_lateness);
  message.lend_own = mix(random ^ 1) % 2 == 0;
  return message;
}

bool SimEndpoint::send(const void* data, std::size_t bytes, const Signature& signature) {
  WEFT_ASSERT(bytes <= options_.max_message);
  const std::lock_guard lock(lane_.mutex);
  if (!usable() || place_.peer.dead.load()) return false;
  SimDirection& direction = sent();
  if (direction.messages.size() - direction.taken >= static_cast<std::size_t>(options_.room)) return false;
  const std::uint64_t number = place_.self.messages.fetch_add(1);
  if (place_.self_rank == options_.dying_rank && number == options_.dies_at_message) {
    place_.self.dead.store(true);
    return false;
  }
  SimMessage message = fate(direction.posted++);
  message.source = data;
  message.bytes = bytes;
  message.signature = signature;
  direction.messages.push_back(message);
  return true;
}

SimMessage* SimEndpoint::front() {
  SimDirection& direction = arriving();
  if (!usable() || place_.peer.dead.load() || direction.taken == direction.messages.size()) return nullptr;
  return &direction.messages[direction.taken];
}

const void* SimEndpoint::receive(std::size_t bytes, void* landing, const Signature& expected) {
  WEFT_ASSERT(!lent_);
  const std::lock_guard lock(lane_.mutex);
  if (!usable()) return nullptr;
  if (!waiting_ && bytes > 0) std::memset(landing, kGarbage, bytes);
  waiting_ = true;
  SimMessage* message = front();
  if (message == nullptr || message->delay-- > 0) return nullptr;
  refused_ = message->bytes != bytes || message->signature != expected;
  if (refused_) {
    message->delay = 0;
    return nullptr;
  }
  return take(*message, landing);
}

const void* SimEndpoint::take(SimMessage& message, void* landing) {
  lent_ = true;
  waiting_ = false;
  message.taken = true;
  ++arriving().taken;
  void* to = landing;
  if (message.lend_own || landing == nullptr) {
    own_.resize(std::max<std::size_t>(message.bytes, 1));
    to = own_.data();
  }
  if (message.bytes > 0) std::memcpy(to, message.source, message.bytes);
  return to;
}

void SimEndpoint::release() {
  WEFT_ASSERT(lent_);
  lent_ = false;
  std::fill(own_.begin(), own_.end(), static_cast<std::byte>(kGarbage));
}

std::uint64_t SimEndpoint::sends_done() {
  const std::lock_guard lock(lane_.mutex);
  SimDirection& direction = sent();
  while (direction.taken > 0 && direction.messages.front().lateness-- <= 0) {
    direction.messages.pop_front();
    --direction.taken;
    ++direction.done;
  }
  return direction.done;
}

bool SimEndpoint::unexpected(Unexpected* what) { return refused_ && peek(what); }

bool SimEndpoint::peek(Unexpected* what) {
  const std::lock_guard lock(lane_.mutex);
  const SimMessage* message = front();
  if (message == nullptr || lent_) return false;
  *what = {message->signature, message->bytes};
  return true;
}

Status SimEndpoint::failure() {
  const std::lock_guard lock(lane_.mutex);
  if (cancelled_) return {Code::Aborted, fmt::format("lane {:#x} was cancelled", lane_.id), place_.peer_rank};
  if (place_.self.dead.load())
    return {Code::Aborted, fmt::format("rank {} is dead", place_.self_rank), place_.self_rank};
  if (place_.peer.dead.load()) {
    return {Code::PeerLost, fmt::format("rank {} died (seed {})", place_.peer_rank, options_.seed), place_.peer_rank};
  }
  if (lane_.closed[static_cast<std::size_t>(1 - place_.side())] && front() == nullptr) {
    return {Code::PeerLost, fmt::format("rank {} closed its end of lane {:#x}", place_.peer_rank, lane_.id),
            place_.peer_rank};
  }
  return {};
}

// The peer must not read a source any more: what it has not taken is gone.
void SimEndpoint::forget_sends() {
  const std::lock_guard lock(lane_.mutex);
  SimDirection& direction = sent();
  direction.messages.resize(direction.taken);
}

void SimEndpoint::cancel(int /*deadline_ms*/) {
  forget_sends();
  cancelled_ = true;
}

}  // namespace weft::transports
