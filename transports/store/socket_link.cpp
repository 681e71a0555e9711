// The listening thread, and what the end of the connection means to those who wait.
#include "transports/store/socket_link.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/assert.hpp"
#include "base/control_thread.hpp"
#include "base/socket.hpp"

namespace weft::transports {

SocketLink::SocketLink(FrameStream stream, std::unique_ptr<Inbox> inbox)
    : inbox_(std::move(inbox)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), stream_(std::move(stream)) {}

Status SocketLink::start(StoreClient& client) {
  if (!wake_)
    return Status(Code::ResourceExhausted, fmt::format("the store's link: {}", base::system_error_text(errno)));
  WEFT_TRY_ASSIGN(thread_, base::start_control_thread("weft-store", [this, &client] { run(client); }));
  return {};
}

SocketLink::~SocketLink() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
}

void SocketLink::submit(Frame frame) {
  bool unsent = false;
  {
    const std::lock_guard lock(mutex_);
    if (frame.type == FrameType::Leave) leaving_ = true;
    if (!stream_.queue(frame)) overflowed_ = true;
    stream_.flush();
    unsent = stream_.unsent() || overflowed_;
  }
  if (unsent) wake();
}

// Exchanges before it sleeps: the hello may have read more than its answer.
void SocketLink::run(StoreClient& client) {
  for (;;) {
    const bool open = exchange(client);
    inbox_->deliver();
    if (!open) return;
    std::array<pollfd, 2> polled{pollfd{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = stream_.descriptor(), .events = POLLIN, .revents = 0}};
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      if (stream_.unsent()) polled[1].events |= POLLOUT;
    }
    const int ready = ::poll(polled.data(), polled.size(), -1);
    WEFT_ASSERT(ready > 0 || errno == EINTR);
    eventfd_t wakes = 0;
    if (ready > 0 && polled[0].revents != 0) static_cast<void>(::eventfd_read(wake_.get(), &wakes));
  }
}

bool SocketLink::exchange(StoreClient& client) {
  bool open = true;
  Status broken;
  {
    const std::lock_guard lock(mutex_);
    stream_.flush();
    open = stream_.read();
    if (overflowed_) {
      broken =
          Status(Code::ResourceExhausted, "the store at rank 0 takes in nothing: too much waits to be sent to it", 0);
    }
  }
  while (broken.ok()) {
    auto frame = stream_.next();
    if (!frame.has_value()) {
      broken = Status(frame.error()).with_context("the store at rank 0");
    } else if (!*frame) {
      break;
    } else if ((*frame)->type == FrameType::Closing) {
      closing_ = true;
    } else {
      client.receive(std::move(**frame));
    }
  }
  if (!broken.ok()) {
    client.fail(std::move(broken));
    // A rank that cannot follow is as good as dead, and the others shall know.
    ::shutdown(stream_.descriptor(), SHUT_RDWR);
    open = false;
  }
  if (!open) server_is_gone(client);
  return open;
}

void SocketLink::server_is_gone(StoreClient& client) {
  if (closing_) {
    client.fail(Status(Code::PeerLost, "rank 0 has left the job and its store has ended", 0));
    return;
  }
  client.fail(Status(Code::PeerLost, "rank 0, which holds the store, died or its connection broke", 0));
  const std::lock_guard lock(mutex_);
  if (!leaving_) client.receive(Frame{.type = FrameType::Died, .rank = 0});
}

void SocketLink::wake() {
  const int woken = ::eventfd_write(wake_.get(), 1);
  WEFT_ASSERT(woken == 0);
  static_cast<void>(woken);
}

}  // namespace weft::transports
