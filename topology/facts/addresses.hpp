// Addresses and routes from the kernel's tables below proc/net: what a recorded tree knows of them.
//
// The table of local addresses does not say whose they are. An IPv4 address belongs to the interface that its subnet's
// route leads to; one without such a route stays without an interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/facts/tree.hpp"

namespace weft::topology {

inline constexpr std::size_t kMaxInterfaceAddresses = 1024;

struct InterfaceAddress {
  std::string interface;
  std::string address;  // "10.0.0.4", "fe80::1"

  bool operator==(const InterfaceAddress&) const = default;
};

struct Subnet {
  std::string interface;
  std::uint32_t network = 0;
  std::uint32_t mask = 0;
};

struct NetworkTables {
  std::vector<std::uint32_t> local;                        // IPv4 addresses of this host
  std::vector<Subnet> subnets;                             // reached without a gateway
  std::vector<InterfaceAddress> ipv6;                      // with their interfaces
  std::optional<std::vector<std::string>> default_routes;  // interfaces
};

NetworkTables read_network_tables(const Tree& tree);
std::vector<InterfaceAddress> recorded_addresses(const NetworkTables& tables);

// The parts, for texts of any origin.
std::vector<std::uint32_t> parse_local_addresses(std::string_view fib_trie);
void parse_routes(std::string_view route, NetworkTables& tables);
std::vector<InterfaceAddress> parse_ipv6_addresses(std::string_view if_inet6);

}  // namespace weft::topology
