// StoreServer: the board behind TCP, in rank 0's process. One thread that sleeps in epoll_wait(); rank 0 itself needs
// no socket.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/deadline.hpp"
#include "base/file_descriptor.hpp"
#include "base/fork_guard.hpp"
#include "transports/store/board.hpp"
#include "transports/store/client.hpp"
#include "transports/store/frame_stream.hpp"
#include "transports/store/hello.hpp"

namespace weft::transports {

// It is also rank 0's link. While ranks have not left, the destructor waits up to kLingerMs for them, so that they see
// no death where all are about to leave. Once all ranks have come, nobody else can: then the port is given back.
class StoreServer final : public StoreLink {
 public:
  static constexpr int kLingerMs = 5000;
  static constexpr int kStrangerMs = 5000;            // to say hello and join
  static constexpr std::size_t kMaxStrangers = 1024;  // further ones wait to be accepted

  StoreServer(const Hello& rank_0, base::FileDescriptor listener, StoreClient& client, Inbox& inbox);
  ~StoreServer() override;
  // Once.
  Status start();

  void submit(Frame frame) override;  // of rank 0
  base::Usage usage() override;

 private:
  using ConnectionId = std::uint64_t;
  struct Connection {
    explicit Connection(base::FileDescriptor socket) : stream(std::move(socket)) {}
    FrameStream stream;
    std::optional<Hello> hello;
    bool member = false;
    bool closing = false;     // ends when all is sent
    bool overflowed = false;  // does not read
    bool polled_for_writing = false;
    base::Deadline join_by = base::Deadline::after_ms(kStrangerMs);
  };

  void run();
  // All below under mutex_.
  void post(int rank, Frame frame);
  void accept_all();
  void service(ConnectionId id);
  Status handle(ConnectionId id, Connection& connection, Frame&& frame);
  void answer_hello(ConnectionId id, Connection& connection, Hello&& hello);
  void join(ConnectionId id, Connection& connection);
  std::optional<Refusal> refusal(const Hello& hello) const;
  void refuse(ConnectionId id, Connection& connection, const Refusal& why);
  void drop(ConnectionId id);
  void flush();
  void poll_for(ConnectionId id, Connection& connection, bool writing);
  void watch_listener(bool watched);
  void drop_late_strangers();
  int next_timeout_ms() const;

  const Hello rank_0_;
  StoreClient& client_;
  Inbox& inbox_;
  base::FileDescriptor epoll_;
  base::FileDescriptor wake_;

  std::mutex mutex_;
  std::condition_variable changed_;  // a rank left or died
  Board board_;
  base::FileDescriptor listener_;
  std::unique_ptr<base::ForkGuard> listener_guard_;
  std::optional<base::Deadline> accept_again_;  // after running out of descriptors
  std::map<ConnectionId, Connection> connections_;
  std::map<int, ConnectionId> members_;
  std::vector<ConnectionId> unflushed_;
  ConnectionId next_id_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace weft::transports
