// The accept loop.
#include "transports/shm_listener.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "base/control_thread.hpp"

namespace weft::transports {

namespace {

// Connections that have said nothing yet. Further ones wait in the socket's backlog, so that peers that come all at
// once lose nothing but time.
constexpr std::ptrdiff_t kMaxStrangers = 64;
// A peer asks as soon as it is connected. Who has not done so for this long makes room for those that wait.
constexpr int kGreetMs = 1000;
// All connections: two per pair of ranks are ordinary.
constexpr std::size_t kMaxClients = 8192;

}  // namespace

Result<std::unique_ptr<ShmListener>> ShmListener::start(std::string_view socket_name, const Nonce& nonce,
                                                        GrantMemory grant) {
  WEFT_TRY_ASSIGN(base::FileDescriptor socket, listen_abstract(socket_name));
  WEFT_TRY_ASSIGN(SharedMemory::Created probe, SharedMemory::create(sizeof(ShmProbe)));
  new (probe.memory.data()) ShmProbe{ShmRequest::kMagic, nonce};
  base::FileDescriptor stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return Status(Code::SystemError, fmt::format("cannot make an eventfd: {}", std::strerror(errno)));
  std::unique_ptr<ShmListener> listener(
      new ShmListener(std::move(socket), std::move(stop), nonce, std::move(probe), std::move(grant)));
  ShmListener* self = listener.get();
  WEFT_TRY_ASSIGN(listener->thread_, base::start_control_thread("weft-shm", [self] { self->serve(); }));
  return listener;
}

ShmListener::ShmListener(base::FileDescriptor socket, base::FileDescriptor stop, const Nonce& nonce,
                         SharedMemory::Created probe, GrantMemory grant)
    : socket_(std::move(socket)),
      stop_(std::move(stop)),
      nonce_(nonce),
      probe_(std::move(probe)),
      grant_(std::move(grant)) {}

ShmListener::~ShmListener() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &one, sizeof(one));  // cannot be full: written once
  thread_.join();
}

void ShmListener::serve() {
  std::vector<pollfd> polled;
  for (;;) {
    const bool room = has_room();
    polled.assign({{stop_.get(), POLLIN, 0}, {room ? socket_.get() : -1, POLLIN, 0}});  // -1 is skipped
    for (const Client& client : clients_) polled.push_back({client.socket.get(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), room ? -1 : next_timeout_ms()) < 0) continue;  // interrupted
    if (polled[0].revents != 0) return;
    std::size_t at = 2;
    std::erase_if(clients_, [&](Client& client) { return polled[at++].revents != 0 && !serve_client(client); });
    if (polled[1].revents != 0) accept_clients();
    client_descriptors_.store(static_cast<int>(clients_.size()), std::memory_order_relaxed);
  }
}

base::Usage ShmListener::usage() const {
  const int own = (socket_ ? 1 : 0) + (stop_ ? 1 : 0) + (probe_.descriptor ? 1 : 0);
  return {.descriptors = own + client_descriptors_.load(std::memory_order_relaxed), .threads = 1};
}

bool ShmListener::full() const {
  const auto strangers = std::ranges::count_if(clients_, [](const Client& client) { return !client.greeted; });
  return strangers >= kMaxStrangers || clients_.size() >= kMaxClients;
}

std::vector<ShmListener::Client>::iterator ShmListener::find_droppable() {
  return std::ranges::find_if(
      clients_, [](const Client& client) { return !client.greeted && (!client.ours || client.greet_by.passed()); });
}

bool ShmListener::has_room() { return !full() || find_droppable() != clients_.end(); }

void ShmListener::make_room() {
  if (!full()) return;
  const auto victim = find_droppable();
  // What it said since it was looked at last still counts.
  if (!serve_client(*victim) || !victim->greeted) clients_.erase(victim);
}

int ShmListener::next_timeout_ms() const {
  int timeout_ms = -1;  // until a client says something or ends
  for (const Client& client : clients_) {
    if (client.greeted) continue;
    const int left = client.greet_by.remaining_ms();
    if (timeout_ms < 0 || left < timeout_ms) timeout_ms = left;
  }
  return timeout_ms;
}

// Not endlessly: whoever connects all the time must not keep the others from being served.
void ShmListener::accept_clients() {
  for (std::ptrdiff_t i = 0; i < kMaxStrangers && has_room(); ++i) {
    base::FileDescriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      // Without descriptors the waiting connection stays in poll()'s result: try again in a while, not at once.
      if (errno == EMFILE || errno == ENFILE) ::poll(nullptr, 0, 10);
      return;
    }
    make_room();
    const bool ours = same_user(socket);
    clients_.push_back({.socket = std::move(socket), .ours = ours, .greet_by = base::Deadline::after_ms(kGreetMs)});
  }
}

ShmReply::Result ShmListener::check(const Client& client, const ShmRequest& request) const {
  if (request.version != ShmRequest::kVersion) return ShmReply::Result::WrongVersion;
  if (!same_user(client.socket)) return ShmReply::Result::WrongUser;
  if (request.listener != nonce_) return ShmReply::Result::WrongNonce;
  return ShmReply::Result::Ok;
}

bool ShmListener::serve_client(Client& client) {
  if (client.greeted) return false;  // a greeted client never speaks again: this is its end
  bool end = false;
  const auto request = read_request(client.socket, &end);
  if (!request) return !end;
  ShmReply reply{.result = check(client, *request)};
  Grant grant;
  int passed = -1;
  const bool grants = request->kind == ShmRequest::Kind::Segment || request->kind == ShmRequest::Kind::Region;
  if (reply.result == ShmReply::Result::Ok && grants) {
    grant = grant_(*request);
    reply.result = grant.result;
    passed = grant.memory.get();
  } else if (reply.result == ShmReply::Result::Ok && request->kind == ShmRequest::Kind::Probe) {
    passed = probe_.descriptor.get();
  }
  client.greeted = send_reply(client.socket, reply, passed) && reply.result == ShmReply::Result::Ok;
  return client.greeted;
}

}  // namespace weft::transports
