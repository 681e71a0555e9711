// The accept loop.
#include "transports/shm_listener.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>

#include <fmt/format.h>

namespace weft::transports {

namespace {

// Connections that have said nothing yet. A process that opens more of them is no peer.
constexpr std::size_t kMaxStrangers = 64;
// All connections: two per pair of ranks are ordinary.
constexpr std::size_t kMaxClients = 8192;

}  // namespace

Result<std::unique_ptr<ShmListener>> ShmListener::start(std::string_view socket_name, const Nonce& nonce,
                                                        GrantSegment grant) {
  WEFT_TRY_ASSIGN(base::FileDescriptor socket, listen_abstract(socket_name));
  WEFT_TRY_ASSIGN(SharedMemory::Created probe, SharedMemory::create(sizeof(ShmProbe)));
  new (probe.memory.data()) ShmProbe{ShmRequest::kMagic, nonce};
  base::FileDescriptor stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return Status(Code::SystemError, fmt::format("cannot make an eventfd: {}", std::strerror(errno)));
  std::unique_ptr<ShmListener> listener(
      new ShmListener(std::move(socket), std::move(stop), nonce, std::move(probe), std::move(grant)));
  // The program's signals are none of this thread's business.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  ShmListener* self = listener.get();
  listener->thread_ = std::thread([self] { self->serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(listener->thread_.native_handle(), "weft-shm");
  return listener;
}

ShmListener::ShmListener(base::FileDescriptor socket, base::FileDescriptor stop, const Nonce& nonce,
                         SharedMemory::Created probe, GrantSegment grant)
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
    polled.assign({{stop_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}});
    for (const Client& client : clients_) polled.push_back({client.socket.get(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;  // interrupted
    if (polled[0].revents != 0) return;
    std::size_t at = 2;
    std::erase_if(clients_, [&](Client& client) { return polled[at++].revents != 0 && !serve_client(client); });
    if (polled[1].revents != 0) accept_clients();
  }
}

void ShmListener::accept_clients() {
  for (;;) {
    base::FileDescriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      // Without descriptors the waiting connection stays in poll()'s result: try again in a while, not at once.
      if (errno == EMFILE || errno == ENFILE) ::poll(nullptr, 0, 10);
      return;
    }
    if (clients_.size() >= kMaxClients) continue;
    const auto greeted = [](const Client& client) { return client.greeted; };
    const auto strangers = std::count_if(clients_.begin(), clients_.end(), std::not_fn(greeted));
    if (static_cast<std::size_t>(strangers) >= kMaxStrangers) {
      clients_.erase(std::find_if_not(clients_.begin(), clients_.end(), greeted));
    }
    clients_.push_back({std::move(socket)});
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
  if (reply.result == ShmReply::Result::Ok && request->kind == ShmRequest::Kind::Segment) {
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
