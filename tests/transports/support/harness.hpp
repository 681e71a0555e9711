// What the transport tests share: two ranks joined by a transport in one process, waiting with a deadline, and test
// bytes.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "transports/transport.hpp"

namespace weft::transports::testing {

inline constexpr int kDeadlineMs = 20'000;

// Polls until `condition` holds; false when the deadline passed first.
template <typename Condition>
bool eventually(Condition condition, int deadline_ms = kDeadlineMs) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(deadline_ms);
  for (std::uint64_t spins = 0; !condition(); ++spins) {
    if (spins % 64 == 63) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
  }
  return true;
}

// Ranks 0 and 1 (and more) in one process: a transport each. Keeps alive what they need.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual Transport& transport(int rank) = 0;
  // Destroys the rank's transport: to the peers the rank is gone.
  virtual void end(int rank) = 0;
};

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Ranks>(int count)> make;
  bool carries_signature = true;  // Unexpected::signature is filled in
  int death_ms = 1'000;           // how soon failure() must tell that a peer ended
};
inline void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
std::vector<Kind> all_kinds();

// Both ends of lane `lane` between ranks 0 and 1.
struct Lane {
  Transport& transport0;
  Transport& transport1;
  std::unique_ptr<Connection> connection0;
  std::unique_ptr<Connection> connection1;
  std::unique_ptr<Endpoint> end0;
  std::unique_ptr<Endpoint> end1;

  void poll() {
    transport0.poll();
    transport1.poll();
  }
};
std::unique_ptr<Connection> connect(Ranks& ranks, int self, int peer);
Lane open_lane(Ranks& ranks, std::uint64_t lane);

// Bytes that depend on `seed` and their place.
std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed);
Signature signature(std::uint32_t sequence);

}  // namespace weft::transports::testing
