// What a communicator asks of its lanes when it has ended: each is cancelled, and all of them share one deadline.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "tests/comm/support/forwarding_transport.hpp"
#include "tests/comm/support/thread_ranks.hpp"

namespace weft::comm {
namespace {

// How long lanes were given to be cancelled, in their order, by the thread that did it.
class Cancels {
 public:
  void add(int deadline_ms) {
    const std::lock_guard lock(mutex_);
    by_thread_[std::this_thread::get_id()].push_back(deadline_ms);
  }
  const std::map<std::thread::id, std::vector<int>>& by_thread() const { return by_thread_; }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, std::vector<int>> by_thread_;
};

// Takes some of the time that it is given.
class SlowToCancel final : public transports::Endpoint {
 public:
  SlowToCancel(std::unique_ptr<transports::Endpoint> inner, Cancels& cancels)
      : inner_(std::move(inner)), cancels_(cancels) {}

  bool send(const void* data, std::size_t bytes, const transports::Signature& signature) override {
    return inner_->send(data, bytes, signature);
  }
  const void* receive(std::size_t bytes, void* landing, const transports::Signature& expected) override {
    return inner_->receive(bytes, landing, expected);
  }
  void release() override { inner_->release(); }
  std::uint64_t sends_done() override { return inner_->sends_done(); }
  bool unexpected(transports::Unexpected* what) override { return inner_->unexpected(what); }
  bool peek(transports::Unexpected* what) override { return inner_->peek(what); }
  Status failure() override { return inner_->failure(); }
  void cancel(int deadline_ms) override {
    cancels_.add(deadline_ms);
    // Of a clock in whole milliseconds two are always one.
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
    inner_->cancel(deadline_ms);
  }

 private:
  std::unique_ptr<transports::Endpoint> inner_;
  Cancels& cancels_;
};

class SlowConnection final : public transports::Connection {
 public:
  SlowConnection(std::unique_ptr<transports::Connection> inner, Cancels& cancels)
      : inner_(std::move(inner)), cancels_(cancels) {}
  Result<std::unique_ptr<transports::Endpoint>> open_lane(std::uint64_t lane) override {
    WEFT_TRY_ASSIGN(auto endpoint, inner_->open_lane(lane));
    return std::unique_ptr<transports::Endpoint>(std::make_unique<SlowToCancel>(std::move(endpoint), cancels_));
  }

 private:
  std::unique_ptr<transports::Connection> inner_;
  Cancels& cancels_;
};

class SlowTransport final : public testing::ForwardingTransport {
 public:
  SlowTransport(std::unique_ptr<transports::Transport> inner, Cancels& cancels)
      : ForwardingTransport(std::move(inner)), cancels_(cancels) {}
  Result<std::unique_ptr<transports::Connection>> connect(int self_rank, int peer_rank, std::string_view peer_address,
                                                          int deadline_ms) override {
    WEFT_TRY_ASSIGN(auto connection, ForwardingTransport::connect(self_rank, peer_rank, peer_address, deadline_ms));
    return std::unique_ptr<transports::Connection>(std::make_unique<SlowConnection>(std::move(connection), cancels_));
  }

 private:
  Cancels& cancels_;
};

TEST(GiveUp, lanes_of_calls_and_of_messages_are_cancelled_by_one_deadline) {
  Cancels cancels;
  testing::JobOptions job;
  job.options.timeout_ms = 20'000;
  job.wrap = [&](std::unique_ptr<transports::Transport> inner) {
    return std::make_unique<SlowTransport>(std::move(inner), cancels);
  };
  std::atomic<int> through = 0;
  testing::run_job(2, job, [&](CommunicatorState& communicator) {
    const std::int32_t sent = communicator.rank();
    std::int32_t got = -1;
    const int peer = 1 - communicator.rank();
    const Message both[] = {send(&sent, 1, DataType::Int32, peer), receive(&got, 1, DataType::Int32, peer)};
    ASSERT_TRUE(communicator.run(both, {}).ok());
    ASSERT_TRUE(communicator.run(barrier()).ok());
    EXPECT_EQ(got, peer);
    ++through;
    const auto deadline = base::Deadline::after_ms(10'000);
    while (through < 2 && !deadline.passed()) std::this_thread::yield();
    if (communicator.rank() == 0) communicator.abort("enough");
    EXPECT_EQ(communicator.run(barrier()).code(), Code::Aborted);
  });
  ASSERT_EQ(cancels.by_thread().size(), 2U);
  for (const auto& [thread, deadlines] : cancels.by_thread()) {
    ASSERT_GE(deadlines.size(), 2U);  // of the barrier, and of the messages
    for (std::size_t i = 1; i < deadlines.size(); ++i) EXPECT_LT(deadlines[i], deadlines[i - 1]);
  }
}

}  // namespace
}  // namespace weft::comm
