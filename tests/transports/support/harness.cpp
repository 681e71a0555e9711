// The transports under test, each as ranks of one process.
#include "tests/transports/support/harness.hpp"

#include <atomic>
#include <cstdlib>

#include "transports/local.hpp"
#include "transports/shm.hpp"
#include "transports/sim.hpp"
#include "transports/ucx.hpp"

namespace weft::transports::testing {

namespace {

class LocalRanks final : public Ranks {
 public:
  explicit LocalRanks(int count) {
    for (int rank = 0; rank < count; ++rank) transports_.push_back(hub_->transport(rank));
  }
  Transport& transport(int rank) override { return *transports_.at(static_cast<std::size_t>(rank)); }
  void end(int rank) override { transports_.at(static_cast<std::size_t>(rank)).reset(); }

 private:
  std::unique_ptr<LocalHub> hub_ = LocalHub::create();
  std::vector<std::unique_ptr<Transport>> transports_;
};

class SimRanks final : public Ranks {
 public:
  explicit SimRanks(int count) {
    for (int rank = 0; rank < count; ++rank) transports_.push_back(hub_->transport(rank));
  }
  Transport& transport(int rank) override { return *transports_.at(static_cast<std::size_t>(rank)); }
  void end(int rank) override { transports_.at(static_cast<std::size_t>(rank)).reset(); }

 private:
  std::unique_ptr<SimHub> hub_ = SimHub::create({.seed = 42});
  std::vector<std::unique_ptr<Transport>> transports_;
};

// Transports that know nothing of each other: what separate processes would have.
class OwnTransports : public Ranks {
 public:
  // All at once, as processes would: one may wait until another has taken what was sent.
  ~OwnTransports() override {
    std::vector<std::thread> threads;
    for (auto& transport : transports_) threads.emplace_back([&transport] { transport.reset(); });
    for (std::thread& thread : threads) thread.join();
  }
  Transport& transport(int rank) override { return *transports_.at(static_cast<std::size_t>(rank)); }
  void end(int rank) override {
    auto& ending = transports_.at(static_cast<std::size_t>(rank));
    std::atomic<bool> ended = false;
    std::thread thread([&] {
      ending.reset();
      ended = true;
    });
    while (!ended) {
      for (auto& other : transports_) {
        if (&other != &ending && other != nullptr) other->poll();
      }
    }
    thread.join();
  }

 protected:
  void add(Result<std::unique_ptr<Transport>> transport) {
    if (!transport) {
      ADD_FAILURE() << transport.error().to_string();
      std::abort();
    }
    transports_.push_back(std::move(transport).value());
  }

 private:
  std::vector<std::unique_ptr<Transport>> transports_;
};

class ShmRanks final : public OwnTransports {
 public:
  explicit ShmRanks(int count) {
    for (int rank = 0; rank < count; ++rank) add(make_shm_transport({}));
  }
};

class UcxRanks final : public OwnTransports {
 public:
  explicit UcxRanks(int count) {
    for (int rank = 0; rank < count; ++rank) add(make_ucx_transport({.interface = "lo"}));
  }
};

class UcxRailRanks final : public OwnTransports {
 public:
  explicit UcxRailRanks(int count) {
    for (int rank = 0; rank < count; ++rank) add(make_ucx_transport({.interface = "lo,lo"}));
  }
};

template <typename T>
std::function<std::unique_ptr<Ranks>(int)> maker() {
  return [](int count) { return std::make_unique<T>(count); };
}

}  // namespace

std::vector<Kind> all_kinds() {
  return {{"local", maker<LocalRanks>()},
          {"shm", maker<ShmRanks>()},
          {"ucx", maker<UcxRanks>(), false},
          {"ucx_rails", maker<UcxRailRanks>(), false},
          {"sim", maker<SimRanks>()}};
}

std::unique_ptr<Connection> connect(Ranks& ranks, int self, int peer) {
  auto connection = ranks.transport(self).connect(self, peer, ranks.transport(peer).address(), kDeadlineMs);
  EXPECT_TRUE(connection.has_value()) << connection.status().to_string();
  return connection ? std::move(connection).value() : nullptr;
}

Lane open_lane(Ranks& ranks, std::uint64_t lane) {
  auto connection0 = connect(ranks, 0, 1);
  auto connection1 = connect(ranks, 1, 0);
  auto end0 = connection0->open_lane(lane);
  auto end1 = connection1->open_lane(lane);
  EXPECT_TRUE(end0.has_value()) << end0.status().to_string();
  EXPECT_TRUE(end1.has_value()) << end1.status().to_string();
  return {ranks.transport(0),     ranks.transport(1),      std::move(connection0),
          std::move(connection1), std::move(end0).value(), std::move(end1).value()};
}

std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> data(bytes);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (std::byte& byte : data) {
    state = state * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<std::byte>(state >> 56);
  }
  return data;
}

Signature signature(std::uint32_t sequence) { return {sequence, 0x01020304, 0x1122334455667788U + sequence}; }

}  // namespace weft::transports::testing
