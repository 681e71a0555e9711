// proc/net/fib_trie, route, if_inet6 and ipv6_route.
#include "topology/facts/addresses.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::uint32_t kRouteUp = 1;
constexpr std::uint32_t kRouteGateway = 2;
constexpr std::size_t kMaxRoutes = 4096;

// As proc/net/route writes an address: the bytes in the order of the network, read as a little-endian number.
std::optional<std::uint32_t> parse_route_address(std::string_view text) {
  const std::optional<std::uint32_t> number = parse_whole<std::uint32_t>(text, 16);
  if (!number) return std::nullopt;
  return *number >> 24 | (*number >> 8 & 0xff00) | (*number << 8 & 0xff0000) | *number << 24;
}

std::optional<std::string> ipv6_text(std::string_view digits) {
  in6_addr address{};
  if (digits.size() != 2 * sizeof address.s6_addr) return std::nullopt;
  for (std::size_t i = 0; i < sizeof address.s6_addr; ++i) {
    const std::optional<unsigned> byte = parse_whole<unsigned>(digits.substr(2 * i, 2), 16);
    if (!byte) return std::nullopt;
    address.s6_addr[i] = static_cast<std::uint8_t>(*byte);
  }
  char text[INET6_ADDRSTRLEN];
  if (::inet_ntop(AF_INET6, &address, text, sizeof text) == nullptr) return std::nullopt;
  return std::string(text);
}

// Routes of IPv6 to everywhere: destination and prefix length 0, an interface at the end.
void add_ipv6_defaults(std::string_view text, std::vector<std::string>& interfaces) {
  constexpr std::string_view kAnywhere = "00000000000000000000000000000000";
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() == 10 && words[0] == kAnywhere && words[1] == "00" && words[9] != "lo")
      interfaces.emplace_back(words[9]);
  }
}

std::optional<std::string> table(const Tree& tree, const std::string& name) {
  std::optional<std::string> text = tree.text("proc/net/" + name);
  return text ? text : tree.text("proc/self/net/" + name);
}

}  // namespace

// A trie of addresses, a node a line ("|-- 10.0.0.4"), and below it what it is ("/32 host LOCAL"). Every address stands
// there twice.
std::vector<std::uint32_t> parse_local_addresses(std::string_view fib_trie) {
  std::vector<std::uint32_t> local;
  std::optional<std::uint32_t> last;
  for (const std::string_view line : lines_of(fib_trie)) {
    if (local.size() == kMaxInterfaceAddresses) break;
    const std::string_view text = trim(line);
    if (text.starts_with("|-- ")) last = parse_ipv4(text.substr(4));
    if (last && text == "/32 host LOCAL" && std::find(local.begin(), local.end(), *last) == local.end())
      local.push_back(*last);
  }
  return local;
}

void parse_routes(std::string_view route, NetworkTables& tables) {
  tables.default_routes.emplace();
  std::size_t count = 0;
  for (const std::string_view line : lines_of(route)) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 8 || ++count > kMaxRoutes) continue;
    const std::optional<std::uint32_t> network = parse_route_address(words[1]);
    const std::optional<std::uint32_t> flags = parse_whole<std::uint32_t>(words[3], 16);
    const std::optional<std::uint32_t> mask = parse_route_address(words[7]);
    if (!network || !flags || !mask || (*flags & kRouteUp) == 0) continue;
    if (*network == 0 && *mask == 0) tables.default_routes->emplace_back(words[0]);
    if ((*flags & kRouteGateway) == 0 && *mask != 0) tables.subnets.push_back({std::string(words[0]), *network, *mask});
  }
}

std::vector<InterfaceAddress> parse_ipv6_addresses(std::string_view if_inet6) {
  std::vector<InterfaceAddress> addresses;
  for (const std::string_view line : lines_of(if_inet6)) {
    if (addresses.size() == kMaxInterfaceAddresses) break;
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() != 6) continue;
    if (const std::optional<std::string> text = ipv6_text(words[0]))
      addresses.push_back({std::string(words[5]), *text});
  }
  return addresses;
}

NetworkTables read_network_tables(const Tree& tree) {
  NetworkTables tables;
  if (const std::optional<std::string> route = table(tree, "route")) {
    parse_routes(*route, tables);
    add_ipv6_defaults(table(tree, "ipv6_route").value_or(""), *tables.default_routes);
  }
  if (tree.live()) return tables;  // addresses come from the system then
  tables.local = parse_local_addresses(table(tree, "fib_trie").value_or(""));
  tables.ipv6 = parse_ipv6_addresses(table(tree, "if_inet6").value_or(""));
  return tables;
}

std::vector<InterfaceAddress> recorded_addresses(const NetworkTables& tables) {
  constexpr std::uint32_t kLoopbackNetwork = 127;
  std::vector<InterfaceAddress> addresses;
  for (const std::uint32_t address : tables.local) {
    const Subnet* best = nullptr;
    for (const Subnet& subnet : tables.subnets)
      if ((address & subnet.mask) == subnet.network &&
          (best == nullptr || std::popcount(subnet.mask) > std::popcount(best->mask)))
        best = &subnet;
    if (address >> 24 == kLoopbackNetwork)
      addresses.push_back({"lo", ipv4_text(address)});
    else if (best != nullptr)
      addresses.push_back({best->interface, ipv4_text(address)});
  }
  std::copy(tables.ipv6.begin(), tables.ipv6.end(), std::back_inserter(addresses));
  return addresses;
}

}  // namespace weft::topology
