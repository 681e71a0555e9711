// TCP sockets as the store needs them: names to addresses, listening, connecting with a deadline, and noticing dead
// peers. All sockets are non-blocking and closed on exec.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "base/file_descriptor.hpp"
#include "weft/status.hpp"

namespace weft::base {

// An IPv4 or IPv6 address with its port.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  int family() const { return storage.ss_family; }
  int port() const;
  SocketAddress with_port(int port) const;
  bool loopback() const;
  std::string host() const;       // "10.0.0.1", "fe80::1%eth0"
  std::string to_string() const;  // "10.0.0.1:29500", "[::1]:29500"
};

// What the system's resolver says of a host name or a numeric address; at least one. NotFound names the host.
Result<std::vector<SocketAddress>> resolve(const std::string& host, int port);

struct InterfaceAddress {
  std::string interface;
  SocketAddress address;
};
// Of interfaces that are up, in the system's order, IPv4 before IPv6; without link-local IPv6.
std::vector<InterfaceAddress> interface_addresses();

// The names in WEFT_INTERFACE, "eth0" or "eth0,eth1"; none if it is empty. The first one is the store's.
std::vector<std::string> interface_names(std::string_view interfaces);
// Each is a UCX context of its own, polled one after the other.
inline constexpr std::size_t kMostInterfaces = 4;
// OK if there is a network interface of each name, up or not, or if there is no name. InvalidArgument, with
// WEFT_INTERFACE and the names there are.
Status check_interfaces(const std::string& interfaces);

// All addresses of this host, IPv4 and IPv6 where the system has both.
SocketAddress any_address();

// ResourceExhausted: the port is taken; other failures are SystemError.
Result<FileDescriptor> listen_on(const SocketAddress& address);
Result<SocketAddress> local_address(int socket);

// Timeout if nothing answers; PeerLost if the other side refuses, or if there is only this socket itself.
Result<FileDescriptor> connect_to(const SocketAddress& address, Deadline deadline);

// By TCP's simultaneous open, a connect() to a free port of this host meets itself if the system picks that port as its
// source.
bool connected_to_itself(int socket);

// No delay for small messages; a peer whose host or cable is gone counts as lost within half a minute.
void tune_connection(int socket);

// "Connection refused" for errno's value.
std::string system_error_text(int error);

}  // namespace weft::base
