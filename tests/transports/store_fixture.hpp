// Stores of either kind for tests, and a listener that records what it hears and can be waited for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "transports/store/store.hpp"
#include "transports/store/tcp_store.hpp"

namespace weft::transports {

enum class StoreKind { Local, Tcp };
inline std::string_view to_string(StoreKind kind) { return kind == StoreKind::Local ? "local" : "tcp"; }
inline std::vector<StoreKind> store_kinds() { return {StoreKind::Local, StoreKind::Tcp}; }

inline Options loopback_options(int rank, int size, int port, int timeout_ms = 60'000) {
  Options options;
  options.rank = rank;
  options.size = size;
  options.rendezvous_host = "127.0.0.1";
  options.rendezvous_port = port;
  options.job_id = "test job";
  options.timeout_ms = timeout_ms;
  return options;
}

// The stores of one job, all in this process. Different ranks may be used by different threads.
class StoreSet {
 public:
  explicit StoreSet(int size) : stores_(static_cast<std::size_t>(size)) {}
  virtual ~StoreSet() = default;

  Store& at(int rank) { return *stores_[static_cast<std::size_t>(rank)]; }
  void join(int rank) { stores_[static_cast<std::size_t>(rank)] = make(rank); }
  void drop(int rank) { stores_[static_cast<std::size_t>(rank)].reset(); }
  std::unique_ptr<Store> take(int rank) { return std::move(stores_[static_cast<std::size_t>(rank)]); }
  virtual void kill(int rank) = 0;

 protected:
  virtual std::unique_ptr<Store> make(int rank) = 0;
  std::vector<std::unique_ptr<Store>> stores_;
};

class LocalStoreSet final : public StoreSet {
 public:
  explicit LocalStoreSet(int size) : StoreSet(size), hub_(LocalStoreHub::create(size)) {}
  ~LocalStoreSet() override { stores_.clear(); }
  void kill(int rank) override { hub_->die(rank); }

 private:
  std::unique_ptr<Store> make(int rank) override { return hub_->store(rank); }
  std::unique_ptr<LocalStoreHub> hub_;
};

// Rank 0 must join first. A rank is killed by unwinding its owner, which closes the socket as the kernel does for a
// killed process; tests with real processes are in store_process_test.
class TcpStoreSet final : public StoreSet {
 public:
  explicit TcpStoreSet(int size) : StoreSet(size) {}
  // All leave before any waits for the others.
  ~TcpStoreSet() override {
    for (auto& store : stores_) {
      if (store) store->leave();
    }
  }
  void kill(int rank) override {
    try {
      const auto owned = take(rank);
      throw std::runtime_error("killed");
    } catch (const std::runtime_error&) {
    }
  }
  int port() const { return port_; }

 private:
  std::unique_ptr<Store> make(int rank) override {
    if (rank == 0) {
      auto listening = listen_store(loopback_options(0, static_cast<int>(stores_.size()), 0));
      EXPECT_TRUE(listening.has_value()) << listening.error().to_string();
      port_ = listening->port;
      return std::move(listening->store);
    }
    auto store = join_store(loopback_options(rank, static_cast<int>(stores_.size()), port_));
    EXPECT_TRUE(store.has_value()) << store.error().to_string();
    return std::move(*store);
  }

  int port_ = 0;
};

inline std::unique_ptr<StoreSet> make_stores(StoreKind kind, int size, const std::vector<int>& ranks) {
  std::unique_ptr<StoreSet> stores;
  if (kind == StoreKind::Local) stores = std::make_unique<LocalStoreSet>(size);
  if (kind == StoreKind::Tcp) stores = std::make_unique<TcpStoreSet>(size);
  for (const int rank : ranks) stores->join(rank);
  return stores;
}

inline std::unique_ptr<StoreSet> make_stores(StoreKind kind, int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return make_stores(kind, size, ranks);
}

class Notices {
 public:
  Store::Listener listener() {
    return {.died = [this](int rank) { add_death(rank); },
            .message = [this](int from, std::string_view text) { add_message(from, text); }};
  }
  void add_message(int from, std::string_view text) {
    const std::lock_guard lock(mutex_);
    messages_.emplace_back(from, text);
    changed_.notify_all();
  }
  void add_death(int rank) {
    const std::lock_guard lock(mutex_);
    deaths_.push_back(rank);
    changed_.notify_all();
  }
  void wait_for_messages(std::size_t count) {
    wait([&] { return messages_.size() >= count; });
  }
  void wait_for_deaths(std::size_t count) {
    wait([&] { return deaths_.size() >= count; });
  }
  std::vector<std::pair<int, std::string>> messages() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  std::vector<int> deaths() {
    const std::lock_guard lock(mutex_);
    return deaths_;
  }

 private:
  template <typename Condition>
  void wait(Condition condition) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30), condition)) << "nothing came in 30 s";
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<int, std::string>> messages_;
  std::vector<int> deaths_;
};

}  // namespace weft::transports
