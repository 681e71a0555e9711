// The sender writes the word and then bytes; the receiver sends the word back, and counts from the first byte to the
// last.
#include "topology/measure/tcp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>

#include "base/parse.hpp"
#include "base/socket.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kMaxAddresses = 16;
constexpr int kGuestMs = 2'000;  // for one that comes to say its word

Status timed_out(std::string_view what) {
  return Status(Code::Timeout, fmt::format("tcp: {} until the deadline", what));
}

Status wait_for(int socket, short events, const base::Deadline& deadline, std::string_view what) {
  for (;;) {
    if (deadline.passed()) return timed_out(what);
    pollfd one{socket, events, 0};
    const int ready = ::poll(&one, 1, deadline.remaining_ms());
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR)
      return Status(Code::SystemError, fmt::format("tcp: poll: {}", base::system_error_text(errno)));
  }
}

// accept() also reports what befell a connection before it was taken; then the next one may fare better.
bool is_of_one_connection(int error) {
  switch (error) {
    case EAGAIN:
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENOPROTOOPT:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
    case EOPNOTSUPP:
    case EPERM:
      return true;
    default:
      return false;
  }
}

bool is_later(ssize_t moved) { return moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR); }

Status send_all(int socket, const void* bytes, std::size_t count, const base::Deadline& deadline) {
  const auto* at = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    const ssize_t sent = ::send(socket, at, count, MSG_NOSIGNAL);
    if (sent < 0 && !is_later(sent))
      return Status(Code::PeerLost, fmt::format("tcp: send: {}", base::system_error_text(errno)));
    if (sent < 0)
      WEFT_TRY(wait_for(socket, POLLOUT, deadline, "nothing was taken"));
    else
      at += sent, count -= static_cast<std::size_t>(sent);
  }
  return {};
}

// 0 at the end of the stream.
Result<std::size_t> receive_some(int socket, std::byte* bytes, std::size_t most, const base::Deadline& deadline) {
  for (;;) {
    const ssize_t got = ::recv(socket, bytes, most, 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (!is_later(got)) return Status(Code::PeerLost, fmt::format("tcp: receive: {}", base::system_error_text(errno)));
    WEFT_TRY(wait_for(socket, POLLIN, deadline, "nothing came"));
  }
}

Result<std::uint64_t> receive_word(int socket, const base::Deadline& deadline) {
  std::uint64_t word = 0;
  std::size_t have = 0;
  while (have < sizeof word) {
    std::byte bytes[sizeof word];
    WEFT_TRY_ASSIGN(const std::size_t got, receive_some(socket, bytes, sizeof word - have, deadline));
    if (got == 0) return Status(Code::PeerLost, "tcp: the other side left");
    std::memcpy(reinterpret_cast<std::byte*>(&word) + have, bytes, got);
    have += got;
  }
  return word;
}

Result<double> time_stream(int socket, const base::Deadline& deadline) {
  std::vector<std::byte> block(kBlock);
  std::size_t total = 0;
  std::optional<std::chrono::steady_clock::time_point> start;
  auto last = std::chrono::steady_clock::now();
  for (;;) {
    WEFT_TRY_ASSIGN(const std::size_t got, receive_some(socket, block.data(), block.size(), deadline));
    if (got == 0) break;
    if (deadline.passed()) return timed_out("the stream did not end");
    last = std::chrono::steady_clock::now();
    if (start)
      total += got;
    else
      start = last;  // what came before the clock ran does not count
  }
  const double seconds = start ? std::chrono::duration<double>(last - *start).count() : 0;
  if (total == 0 || seconds <= 0) return Status(Code::PeerLost, "tcp: the stream was too short to be timed");
  return static_cast<double>(total) / seconds / 1e9;
}

}  // namespace

std::string to_text(const TcpMeetingPoint& point) {
  return fmt::format("{} {} {}", fmt::join(point.addresses, ","), point.port, point.word);
}

Result<TcpMeetingPoint> parse_meeting_point(std::string_view text) {
  const std::vector<std::string_view> parts = base::split(text, ' ');
  TcpMeetingPoint point;
  const std::optional<int> port = parts.size() == 3 ? base::parse_port(parts[1]) : std::nullopt;
  const auto word = parts.size() == 3 ? parse_whole<std::uint64_t>(parts[2]) : std::nullopt;
  if (!port || !word) return Status(Code::Corrupt, fmt::format("\"{}\" is no place to meet", text));
  for (std::string_view address : base::split(parts[0], ',')) point.addresses.emplace_back(address);
  point.port = *port;
  point.word = *word;
  return point;
}

Result<TcpReceiver> TcpReceiver::create() {
  WEFT_TRY_ASSIGN(base::FileDescriptor listener, base::listen_on(base::any_address()));
  std::random_device random;
  return TcpReceiver(std::move(listener), (static_cast<std::uint64_t>(random()) << 32) | random());
}

TcpMeetingPoint TcpReceiver::point() const {
  TcpMeetingPoint point;
  const Result<base::SocketAddress> own = base::local_address(listener_.get());
  if (own) point.port = own->port();
  point.word = word_;
  std::vector<std::string> loopback;
  for (const base::InterfaceAddress& one : base::interface_addresses())
    (one.address.loopback() ? loopback : point.addresses).push_back(one.address.host());
  point.addresses.insert(point.addresses.end(), loopback.begin(), loopback.end());
  if (point.addresses.size() > kMaxAddresses) point.addresses.resize(kMaxAddresses);
  return point;
}

Result<double> TcpReceiver::receive(base::Deadline deadline) {
  for (;;) {
    WEFT_TRY(wait_for(listener_.get(), POLLIN, deadline, "nobody came"));
    const base::FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket && is_of_one_connection(errno)) continue;
    if (!socket) return Status(Code::SystemError, fmt::format("tcp: accept: {}", base::system_error_text(errno)));
    const Result<std::uint64_t> word = receive_word(socket.get(), deadline.at_most_ms(kGuestMs));
    if (!word || *word != word_) continue;
    WEFT_TRY(send_all(socket.get(), &word_, sizeof word_, deadline));
    return time_stream(socket.get(), deadline);
  }
}

void TcpReceiver::stop() const { ::shutdown(listener_.get(), SHUT_RDWR); }

Status send_tcp(const TcpMeetingPoint& point, int milliseconds, base::Deadline deadline) {
  constexpr int kConnectMs = 1'000;
  Status last(Code::NotFound, "tcp: there is no address to meet at");
  for (const std::string& address : point.addresses) {
    const Result<std::vector<base::SocketAddress>> resolved = base::resolve(address, point.port);
    if (!resolved) {
      last = resolved.error();
      continue;
    }
    Result<base::FileDescriptor> socket = base::connect_to(resolved->front(), deadline.at_most_ms(kConnectMs));
    if (!socket) {
      last = std::move(socket).error();
      continue;
    }
    if (Status sent = send_all(socket->get(), &point.word, sizeof point.word, deadline); !sent.ok()) {
      last = std::move(sent);
      continue;
    }
    const Result<std::uint64_t> word = receive_word(socket->get(), deadline.at_most_ms(kConnectMs));
    if (!word || *word != point.word) {
      last = word ? Status(Code::PeerLost, "tcp: another host has this address, too") : word.error();
      last = std::move(last).with_context(address);
      continue;
    }
    const std::vector<std::byte> block(kBlock);
    const auto until = base::Deadline::after_ms(milliseconds);
    while (!until.passed()) WEFT_TRY(send_all(socket->get(), block.data(), block.size(), deadline));
    return {};
  }
  return last;
}

}  // namespace weft::topology
