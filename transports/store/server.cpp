// The loop over connections: accepting, reading, answering, noticing ends.
#include "transports/store/server.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/assert.hpp"
#include "base/control_thread.hpp"
#include "base/socket.hpp"
#include "transports/store/admission.hpp"

namespace weft::transports {
namespace {

constexpr std::uint64_t kListenerId = 0;
constexpr std::uint64_t kWakeId = 1;
constexpr std::uint64_t kFirstConnectionId = 2;
constexpr int kAcceptPauseMs = 100;
constexpr std::size_t kMostStrangerBytes = 4096;  // at a time
constexpr FrameLimits kStrangerLimits{.key_bytes = kMaxHelloBytes, .value_bytes = kMaxHelloBytes};

}  // namespace

StoreServer::StoreServer(const Hello& rank_0, base::FileDescriptor listener, StoreClient& client, Inbox& inbox)
    : rank_0_(rank_0),
      client_(client),
      inbox_(inbox),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      board_(rank_0.size, [this](int rank, Frame frame) { post(rank, std::move(frame)); }),
      listener_(std::move(listener)),
      listener_guard_(std::make_unique<base::ForkGuard>(listener_.get())),
      next_id_(kFirstConnectionId) {
  board_.join(0);
}

Status StoreServer::start() {
  epoll_event wake{.events = EPOLLIN, .data = {.u64 = kWakeId}};
  epoll_event accept{.events = EPOLLIN, .data = {.u64 = kListenerId}};
  if (!epoll_ || !wake_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &wake) < 0 ||
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &accept) < 0) {
    return Status(Code::ResourceExhausted, fmt::format("the store's server: {}", base::system_error_text(errno)));
  }
  WEFT_TRY_ASSIGN(thread_, base::start_control_thread("weft-store", [this] { run(); }));
  return {};
}

StoreServer::~StoreServer() {
  {
    std::unique_lock lock(mutex_);
    if (thread_.joinable() && board_.member(0) == Board::Member::Left) {
      changed_.wait_until(lock, base::Deadline::after_ms(kLingerMs).time(), [this] { return board_.here() == 0; });
    }
    stopping_ = true;
  }
  if (!thread_.joinable()) return;
  const int woken = ::eventfd_write(wake_.get(), 1);
  WEFT_ASSERT(woken == 0);
  static_cast<void>(woken);
  thread_.join();
}

base::Usage StoreServer::usage() {
  const std::lock_guard lock(mutex_);
  const int own = (epoll_ ? 1 : 0) + (wake_ ? 1 : 0) + (listener_ ? 1 : 0);
  return {.descriptors = own + static_cast<int>(connections_.size()), .threads = thread_.joinable() ? 1 : 0};
}

void StoreServer::submit(Frame frame) {
  {
    const std::lock_guard lock(mutex_);
    if (board_.member(0) != Board::Member::Here) return;
    const bool leaves = frame.type == FrameType::Leave;
    const Status status = board_.handle(0, std::move(frame));
    WEFT_ASSERT(status.ok());
    if (leaves) {
      for (const auto& [rank, id] : members_) post(rank, Frame{.type = FrameType::Closing});
    }
    flush();
  }
  inbox_.deliver();
}

void StoreServer::run() {
  std::array<epoll_event, 64> events;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const int timeout_ms = next_timeout_ms();
    lock.unlock();
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
    WEFT_ASSERT(count >= 0 || errno == EINTR);
    lock.lock();
    for (int i = 0; i < count; ++i) {
      const ConnectionId id = events[static_cast<std::size_t>(i)].data.u64;
      if (id == kListenerId) accept_all();
      if (id >= kFirstConnectionId) service(id);
    }
    drop_late_strangers();
    flush();
    if (board_.all_came() && listener_) {
      listener_guard_.reset();
      listener_.reset();  // which also takes it out of epoll
    }
    changed_.notify_all();
    lock.unlock();
    inbox_.deliver();
    lock.lock();
  }
}

void StoreServer::post(int rank, Frame frame) {
  if (rank == 0) {
    client_.receive(std::move(frame));
    return;
  }
  const auto found = members_.find(rank);
  WEFT_ASSERT(found != members_.end());
  Connection& connection = connections_.at(found->second);
  if (!connection.stream.queue(frame)) connection.overflowed = true;
  unflushed_.push_back(found->second);
}

void StoreServer::accept_all() {
  if (!listener_) return;
  const auto stranger = [](const auto& entry) { return !entry.second.member; };
  for (;;) {
    // The others wait in the backlog until these have joined or their time is over.
    if (static_cast<std::size_t>(std::ranges::count_if(connections_, stranger)) >= kMaxStrangers) {
      watch_listener(false);
      return;
    }
    base::FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      // Out of descriptors or memory: whoever is waiting stays in the backlog, and we do not spin on it.
      if (errno != EAGAIN && errno != EWOULDBLOCK) watch_listener(false);
      return;
    }
    const ConnectionId id = next_id_++;
    epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) == 0)
      connections_.try_emplace(id, std::move(socket));
  }
}

// What arrived before the end is handled before the end.
void StoreServer::service(ConnectionId id) {
  auto found = connections_.find(id);
  if (found == connections_.end()) return;
  found->second.stream.flush();
  if (found->second.closing) return drop(id);
  const bool open = found->second.member ? found->second.stream.read() : found->second.stream.read(kMostStrangerBytes);
  while (found != connections_.end() && !found->second.closing) {
    Connection& connection = found->second;
    auto frame = connection.stream.next(connection.member ? FrameLimits{} : kStrangerLimits);
    if (frame.has_value() && !*frame) break;
    const Status status = frame.has_value() ? handle(id, connection, std::move(**frame)) : frame.error();
    if (status.code() == Code::Unsupported) {
      // Another version of Weft understands at least the frame that it is not understood; noise gets silence.
      refuse(id, connection, {.reason = std::string(status.message()), .final = true});
    } else if (!status.ok()) {
      drop(id);
    }
    found = connections_.find(id);
  }
  if (found == connections_.end()) return;
  if (open) {
    unflushed_.push_back(id);
  } else {
    drop(id);
  }
}

Status StoreServer::handle(ConnectionId id, Connection& connection, Frame&& frame) {
  if (connection.member) {
    if (board_.member(connection.hello->rank) != Board::Member::Here) return {};  // it has left
    return board_.handle(connection.hello->rank, std::move(frame));
  }
  if (frame.type == FrameType::Hello && !connection.hello) {
    WEFT_TRY_ASSIGN(Hello hello, parse_hello(frame));
    answer_hello(id, connection, std::move(hello));
    return {};
  }
  if (frame.type == FrameType::Join && connection.hello) {
    join(id, connection);
    return {};
  }
  return Status(Code::Corrupt, "a stranger says hello first");
}

void StoreServer::answer_hello(ConnectionId id, Connection& connection, Hello&& hello) {
  if (const auto why = refusal(hello)) {
    board_.note_refusal(why->reason);
    return refuse(id, connection, *why);
  }
  connection.hello = std::move(hello);
  connection.stream.queue(Frame{.type = FrameType::Welcome});
  unflushed_.push_back(id);
}

void StoreServer::join(ConnectionId id, Connection& connection) {
  if (const auto why = refusal(*connection.hello)) return refuse(id, connection, *why);
  const int rank = connection.hello->rank;
  connection.member = true;
  connection.stream.queue(Frame{.type = FrameType::Done});
  unflushed_.push_back(id);
  members_[rank] = id;
  board_.join(rank);
  if (board_.member(0) == Board::Member::Left) post(rank, Frame{.type = FrameType::Closing});
}

std::optional<Refusal> StoreServer::refusal(const Hello& hello) const {
  const auto holder = members_.find(hello.rank);
  return why_refused(hello, rank_0_, board_,
                     holder != members_.end() ? &*connections_.at(holder->second).hello : nullptr);
}

void StoreServer::refuse(ConnectionId id, Connection& connection, const Refusal& why) {
  connection.stream.queue(to_frame(why));
  connection.closing = true;
  unflushed_.push_back(id);
}

void StoreServer::drop(ConnectionId id) {
  const auto found = connections_.find(id);
  WEFT_ASSERT(found != connections_.end());
  const auto connection = connections_.extract(found);  // closed at the end, when nobody can reach it any more
  if (!connection.mapped().member) return;
  const int rank = connection.mapped().hello->rank;
  members_.erase(rank);
  board_.die(rank);
}

// A dropped rank makes news for others, hence the outer loop.
void StoreServer::flush() {
  while (!unflushed_.empty()) {
    for (const ConnectionId id : std::exchange(unflushed_, {})) {
      const auto found = connections_.find(id);
      if (found == connections_.end()) continue;
      Connection& connection = found->second;
      connection.stream.flush();
      if (connection.overflowed || (connection.closing && !connection.stream.unsent())) {
        drop(id);
      } else {
        poll_for(id, connection, connection.stream.unsent());
      }
    }
  }
}

void StoreServer::poll_for(ConnectionId id, Connection& connection, bool writing) {
  if (connection.polled_for_writing == writing) return;
  connection.polled_for_writing = writing;
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
  if (writing) event.events |= EPOLLOUT;
  const int changed = ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.stream.descriptor(), &event);
  WEFT_ASSERT(changed == 0);
  static_cast<void>(changed);
}

void StoreServer::watch_listener(bool watched) {
  epoll_event event{.events = watched ? std::uint32_t{EPOLLIN} : 0U, .data = {.u64 = kListenerId}};
  const int changed = ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &event);
  WEFT_ASSERT(changed == 0);
  static_cast<void>(changed);
  accept_again_ = watched ? std::nullopt : std::optional(base::Deadline::after_ms(kAcceptPauseMs));
}

void StoreServer::drop_late_strangers() {
  if (accept_again_ && accept_again_->passed() && listener_) watch_listener(true);
  std::vector<ConnectionId> late;
  for (const auto& [id, connection] : connections_) {
    if (!connection.member && connection.join_by.passed()) late.push_back(id);
  }
  for (const ConnectionId id : late) drop(id);
}

int StoreServer::next_timeout_ms() const {
  int timeout_ms = -1;  // sleeps until there is something to do
  const auto consider = [&](const base::Deadline& deadline) {
    const int left = deadline.remaining_ms();
    if (timeout_ms < 0 || left < timeout_ms) timeout_ms = left;
  };
  if (accept_again_ && listener_) consider(*accept_again_);
  if (members_.size() == connections_.size()) return timeout_ms;  // no stranger
  for (const auto& [id, connection] : connections_) {
    if (!connection.member) consider(connection.join_by);
  }
  return timeout_ms;
}

}  // namespace weft::transports
