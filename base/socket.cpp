// System calls for sockets, retried where interrupted, with their errors in words.
#include "base/socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/assert.hpp"
#include "base/parse.hpp"

namespace weft::base {
namespace {

SocketAddress make_address(const sockaddr* raw, socklen_t length) {
  SocketAddress address;
  WEFT_ASSERT(length <= sizeof address.storage);
  std::memcpy(&address.storage, raw, length);
  address.length = length;
  return address;
}

FileDescriptor stream_socket(int family) {
  return FileDescriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void set_option(int socket, int level, int name, int value) {
  // A tuning option that the system does not know is no reason to give up a connection.
  static_cast<void>(::setsockopt(socket, level, name, &value, sizeof value));
}

const sockaddr* raw(const SocketAddress& address) { return reinterpret_cast<const sockaddr*>(&address.storage); }

sockaddr_in& v4(SocketAddress& address) { return reinterpret_cast<sockaddr_in&>(address.storage); }
sockaddr_in6& v6(SocketAddress& address) { return reinterpret_cast<sockaddr_in6&>(address.storage); }
const sockaddr_in& v4(const SocketAddress& address) { return reinterpret_cast<const sockaddr_in&>(address.storage); }
const sockaddr_in6& v6(const SocketAddress& address) { return reinterpret_cast<const sockaddr_in6&>(address.storage); }

// Until the pending connect() has an outcome: 0, errno's value, or ETIMEDOUT at the deadline.
int wait_connected(int socket, Deadline deadline) {
  pollfd waiting{.fd = socket, .events = POLLOUT, .revents = 0};
  for (;;) {
    const int ready = ::poll(&waiting, 1, deadline.remaining_ms());
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return errno;
    if (ready == 0) return ETIMEDOUT;
    int error = 0;
    socklen_t length = sizeof error;
    if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return errno;
    return error;
  }
}

}  // namespace

int SocketAddress::port() const { return ntohs(family() == AF_INET6 ? v6(*this).sin6_port : v4(*this).sin_port); }

SocketAddress SocketAddress::with_port(int port) const {
  SocketAddress address = *this;
  const std::uint16_t number = htons(static_cast<std::uint16_t>(port));
  if (family() == AF_INET6) {
    v6(address).sin6_port = number;
  } else {
    v4(address).sin_port = number;
  }
  return address;
}

bool SocketAddress::loopback() const {
  if (family() == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&v6(*this).sin6_addr) != 0;
  return ntohl(v4(*this).sin_addr.s_addr) >> 24 == 127;
}

std::string SocketAddress::host() const {
  char text[NI_MAXHOST] = "";
  if (::getnameinfo(raw(*this), length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return "?";
  return text;
}

std::string SocketAddress::to_string() const {
  return family() == AF_INET6 ? fmt::format("[{}]:{}", host(), port()) : fmt::format("{}:{}", host(), port());
}

Result<std::vector<SocketAddress>> resolve(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error != 0) return Status(Code::NotFound, fmt::format("host '{}': {}", host, ::gai_strerror(error)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    addresses.push_back(make_address(entry->ai_addr, entry->ai_addrlen).with_port(port));
  }
  if (addresses.empty()) return Status(Code::NotFound, fmt::format("host '{}' has no IP address", host));
  return addresses;
}

std::vector<InterfaceAddress> interface_addresses() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(found, &::freeifaddrs);
  std::vector<InterfaceAddress> addresses;
  for (const ifaddrs* entry = found; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const SocketAddress address =
        make_address(entry->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6(address).sin6_addr)) continue;
    addresses.push_back({entry->ifa_name, address});
  }
  std::stable_partition(addresses.begin(), addresses.end(),
                        [](const auto& entry) { return entry.address.family() == AF_INET; });
  return addresses;
}

std::vector<std::string> interface_names(std::string_view interfaces) {
  if (interfaces.empty()) return {};
  const auto names = split(interfaces, ',');
  return {names.begin(), names.end()};
}

namespace {

Status no_such_interface(const std::string& interfaces, const std::string& name) {
  std::vector<std::string> known;
  const std::unique_ptr<struct if_nameindex, decltype(&::if_freenameindex)> all(::if_nameindex(), &::if_freenameindex);
  for (const struct if_nameindex* entry = all.get(); entry != nullptr && entry->if_index != 0; ++entry)
    known.emplace_back(entry->if_name);
  const std::string which = name == interfaces ? "such network interface" : fmt::format("network interface '{}'", name);
  return Status(Code::InvalidArgument, fmt::format("WEFT_INTERFACE={}: there is no {}; there are {}", interfaces, which,
                                                   fmt::join(known, ", ")));
}

}  // namespace

Status check_interfaces(const std::string& interfaces) {
  const auto names = interface_names(interfaces);
  if (names.size() > kMostInterfaces) {
    return Status(Code::InvalidArgument,
                  fmt::format("WEFT_INTERFACE={}: these are {} network interfaces; give at most {}", interfaces,
                              names.size(), kMostInterfaces));
  }
  for (const std::string& name : names) {
    if (::if_nametoindex(name.c_str()) == 0) return no_such_interface(interfaces, name);
    if (std::ranges::count(names, name) > 1) {
      return Status(Code::InvalidArgument, fmt::format("WEFT_INTERFACE={}: '{}' is named twice", interfaces, name));
    }
  }
  return {};
}

SocketAddress any_address() {
  SocketAddress address;
  if (stream_socket(AF_INET6)) {
    sockaddr_in6& any = v6(address);
    any.sin6_family = AF_INET6;
    any.sin6_addr = in6addr_any;
    address.length = sizeof any;
  } else {
    sockaddr_in& any = v4(address);
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_ANY);
    address.length = sizeof any;
  }
  return address;
}

Result<FileDescriptor> listen_on(const SocketAddress& address) {
  const auto failed = [&](const char* what) {
    const Code code = errno == EADDRINUSE ? Code::ResourceExhausted : Code::SystemError;
    return Status(code, fmt::format("{} on {}: {}", what, address.to_string(), system_error_text(errno)));
  };
  FileDescriptor socket = stream_socket(address.family());
  if (!socket) return failed("no socket");
  // Lets a restarted job have the port while connections of the last one are still in TIME_WAIT.
  set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.family() == AF_INET6) set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(socket.get(), raw(address), address.length) < 0) return failed("cannot listen");
  if (::listen(socket.get(), SOMAXCONN) < 0) return failed("cannot listen");
  return socket;
}

Result<SocketAddress> local_address(int socket) {
  SocketAddress address;
  address.length = sizeof address.storage;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.length) < 0) {
    return Status(Code::SystemError, fmt::format("getsockname: {}", system_error_text(errno)));
  }
  return address;
}

Result<FileDescriptor> connect_to(const SocketAddress& address, Deadline deadline) {
  FileDescriptor socket = stream_socket(address.family());
  if (!socket) {
    return Status(Code::SystemError,
                  fmt::format("no socket for {}: {}", address.to_string(), system_error_text(errno)));
  }
  int error = ::connect(socket.get(), raw(address), address.length) == 0 ? 0 : errno;
  if (error == EINPROGRESS || error == EINTR) error = wait_connected(socket.get(), deadline);
  if (error == 0 && connected_to_itself(socket.get())) error = ECONNREFUSED;
  if (error == 0) return socket;
  return Status(error == ETIMEDOUT ? Code::Timeout : Code::PeerLost, system_error_text(error));
}

bool connected_to_itself(int socket) {
  SocketAddress peer;
  peer.length = sizeof peer.storage;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer.storage), &peer.length) < 0) return false;
  const auto local = local_address(socket);
  return local.has_value() && local->to_string() == peer.to_string();
}

void tune_connection(int socket) {
  constexpr int kIdleSeconds = 10;
  constexpr int kProbeSeconds = 5;
  constexpr int kProbes = 4;
  constexpr int kUnacknowledgedMs = 30'000;
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMs);
}

std::string system_error_text(int error) { return std::system_category().message(error); }

}  // namespace weft::base
