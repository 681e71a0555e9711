// Sockets, credentials and descriptor passing.
#include "transports/shm_handshake.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include "base/deadline.hpp"

namespace weft::transports {

namespace {

struct AbstractName {
  sockaddr_un address{};
  socklen_t bytes = 0;
};

AbstractName abstract_name(std::string_view name) {
  AbstractName result;
  result.address.sun_family = AF_UNIX;
  const std::size_t used = std::min(name.size(), sizeof(result.address.sun_path) - 1);
  std::memcpy(result.address.sun_path + 1, name.data(), used);  // the leading zero makes it abstract
  result.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + used);
  return result;
}

base::FileDescriptor new_socket(int flags) {
  return base::FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

Status system_error(std::string_view what, int error) {
  return {error == EMFILE || error == ENFILE ? Code::ResourceExhausted : Code::SystemError,
          fmt::format("{}: {}", what, std::strerror(error))};
}

std::optional<ucred> credentials(const base::FileDescriptor& socket) {
  ucred result{};
  socklen_t bytes = sizeof(result);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &result, &bytes) != 0) return std::nullopt;
  return result;
}

// For the next call on the socket; a call that a signal interrupted starts anew.
bool set_deadline(const base::FileDescriptor& socket, base::Deadline deadline) {
  const int left_ms = std::max(deadline.remaining_ms(), 1);  // 0 would be none
  const timeval time{left_ms / 1000, left_ms % 1000 * 1000};
  return ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) == 0 &&
         ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) == 0;
}

// Repeats a call that a signal interrupts. EAGAIN: the deadline passed.
template <typename Call>
ssize_t in_time(const base::FileDescriptor& socket, base::Deadline deadline, const Call& call) {
  for (;;) {
    if (!set_deadline(socket, deadline)) return -1;
    const ssize_t result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// Receives one packet of `bytes` bytes and the descriptor that came with it, if any. Surplus descriptors are not taken
// in: the room that is told, unlike the aligned buffer, ends after the first.
ssize_t receive_packet(const base::FileDescriptor& socket, void* data, std::size_t bytes,
                       base::FileDescriptor* passed) {
  iovec vector{data, bytes};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_LEN(sizeof(int));
  const ssize_t got = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return got;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    int number = -1;
    std::memcpy(&number, CMSG_DATA(part), sizeof(number));
    *passed = base::FileDescriptor(number);
  }
  return got;
}

std::string_view reason(ShmReply::Result result) {
  switch (result) {
    case ShmReply::Result::Ok:
      return "ok";
    case ShmReply::Result::WrongVersion:
      return "it runs another version of Weft";
    case ShmReply::Result::WrongUser:
      return "it runs as another user";
    case ShmReply::Result::WrongNonce:
      return "the address is not its own";
    case ShmReply::Result::AlreadyTaken:
      return "it has passed the memory on before";
    case ShmReply::Result::Failed:
      return "it could not make the shared memory";
  }
  return "unknown";
}

std::string name_of(const ShmAddress& peer) { return fmt::format("process {} on this host", peer.pid); }

Result<base::FileDescriptor> connect_to(const ShmAddress& peer, int deadline_ms, base::Deadline deadline) {
  base::FileDescriptor socket = new_socket(0);
  if (!socket) return system_error("cannot make a Unix socket", errno);
  const AbstractName name = abstract_name(peer.socket);
  const auto connected = in_time(socket, deadline, [&] {
    return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes);
  });
  if (connected == 0) return socket;
  if (errno == ECONNREFUSED) return Status(Code::PeerLost, name_of(peer) + " no longer listens");
  if (errno == EAGAIN) {
    return Status(Code::Timeout, fmt::format("{} did not accept a connection in {} ms", name_of(peer), deadline_ms));
  }
  return system_error("cannot connect to " + name_of(peer), errno);
}

}  // namespace

Result<base::FileDescriptor> listen_abstract(std::string_view name) {
  constexpr int kBacklog = 1024;
  base::FileDescriptor socket = new_socket(SOCK_NONBLOCK);
  if (!socket) return system_error("cannot make a Unix socket", errno);
  const AbstractName address = abstract_name(name);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.address), address.bytes) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return system_error(fmt::format("cannot listen on the abstract Unix socket {}", name), errno);
  }
  return socket;
}

Result<ShmAnswer> ask(const ShmAddress& peer, const ShmRequest& request, int deadline_ms) {
  ShmAnswer answer;
  const auto deadline = base::Deadline::after_ms(deadline_ms);
  WEFT_TRY_ASSIGN(answer.socket, connect_to(peer, deadline_ms, deadline));
  const auto listener = credentials(answer.socket);
  if (!listener || listener->uid != ::geteuid()) {
    return Status(Code::Unsupported, name_of(peer) + " runs as another user; shared memory needs the same one");
  }
  // Opened before the request is sent: an answer then proves that the process was alive and its number not taken by
  // another.
  answer.pid = listener->pid;
  if (listener->pid > 0)
    answer.process = base::FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, listener->pid, 0)));
  const auto late = [&] {
    return Status(Code::Timeout, fmt::format("{} did not answer in {} ms", name_of(peer), deadline_ms));
  };
  const auto sent = in_time(answer.socket, deadline,
                            [&] { return ::send(answer.socket.get(), &request, sizeof(request), MSG_NOSIGNAL); });
  if (sent < 0 && errno == EAGAIN) return late();
  if (sent != sizeof(request)) {
    return Status(Code::PeerLost, name_of(peer) + " closed its socket before it was asked");
  }
  ShmReply reply;
  const auto got = in_time(answer.socket, deadline,
                           [&] { return receive_packet(answer.socket, &reply, sizeof(reply), &answer.passed); });
  if (got < 0 && errno == EAGAIN) return late();
  if (got <= 0) return Status(Code::PeerLost, name_of(peer) + " closed its socket before it answered");
  if (got != sizeof(reply) || reply.magic != ShmRequest::kMagic) {
    return Status(Code::Corrupt, name_of(peer) + " answered something that is not Weft's");
  }
  if (reply.result != ShmReply::Result::Ok) {
    const bool version = reply.result == ShmReply::Result::WrongVersion;
    return Status(version ? Code::Corrupt : Code::Unsupported,
                  fmt::format("{} refused to share memory: {} (protocol {}, here {})", name_of(peer),
                              reason(reply.result), reply.version, ShmRequest::kVersion));
  }
  return answer;
}

std::optional<ShmRequest> read_request(const base::FileDescriptor& socket, bool* end) {
  ShmRequest request;
  base::FileDescriptor unwanted;
  const ssize_t got = receive_packet(socket, &request, sizeof(request), &unwanted);
  *end = got >= 0 ? got != sizeof(request) || request.magic != ShmRequest::kMagic : errno != EAGAIN && errno != EINTR;
  if (got < 0 || *end) return std::nullopt;
  return request;
}

bool send_reply(const base::FileDescriptor& socket, const ShmReply& reply, int passed) {
  ShmReply copy = reply;
  iovec vector{&copy, sizeof(copy)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  if (passed >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &passed, sizeof(passed));
  }
  return ::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(copy);
}

bool same_user(const base::FileDescriptor& socket) {
  const auto peer = credentials(socket);
  return peer && peer->uid == ::geteuid();
}

}  // namespace weft::transports
