// Network interfaces: kind, state, speed, MTU, address, and which one leads out.
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>
#include <memory>

#include "topology/facts/addresses.hpp"
#include "topology/facts/pci_place.hpp"
#include "topology/facts/readers.hpp"
#include "topology/text.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxInterfaces = 1024;
constexpr int kMaxMtu = 1 << 24;
constexpr long long kMaxMegabits = 1'000'000'000;
constexpr long long kLoopback = 772;  // ARPHRD_LOOPBACK
constexpr long long kEthernet = 1;    // ARPHRD_ETHER

// The kernel names the kind of most virtual interfaces. Of a pair (veth) it does not; but the other end of one has
// another number, and no device is behind it.
std::string kind_of(const Tree& tree, const std::string& folder) {
  const std::optional<long long> type = tree.integer(folder + "type");
  if (type == kLoopback) return "loopback";
  if (tree.exists(folder + "device")) return "physical";
  if (tree.exists(folder + "bonding")) return "bond";
  if (tree.exists(folder + "bridge")) return "bridge";
  if (tree.exists(folder + "tun_flags")) return "tun";
  const std::optional<std::string> event = tree.attribute(folder + "uevent");
  const std::optional<std::string_view> kind = event ? value_of(*event, "DEVTYPE=") : std::nullopt;
  if (kind == "vlan" || kind == "bond" || kind == "bridge" || kind == "team") return std::string(*kind);
  const std::optional<long long> other = tree.integer(folder + "iflink");
  const bool pair = other && *other > 0 && other != tree.integer(folder + "ifindex");
  return !kind && type == kEthernet && pair ? "veth" : "virtual";
}

InterfaceFacts read_interface(const Tree& tree, const std::string& name) {
  const std::string folder = "sys/class/net/" + name + "/";
  InterfaceFacts facts;
  facts.name = name;
  facts.kind = kind_of(tree, folder);
  facts.state = tree.attribute(folder + "operstate");
  const std::optional<long long> megabits = tree.integer(folder + "speed");
  if (megabits && *megabits > 0 && *megabits <= kMaxMegabits) facts.speed_gbs = static_cast<double>(*megabits) / 8000;
  const std::optional<long long> mtu = tree.integer(folder + "mtu");
  if (mtu && *mtu > 0 && *mtu <= kMaxMtu) facts.mtu = static_cast<int>(*mtu);
  facts.mac = tree.attribute(folder + "address");
  facts.bus_id = pci_behind(tree, "sys/class/net/" + name);
  facts.master = tree.link_name(folder + "master");
  return facts;
}

// In the order in which the kernel lists them, and programs find them.
std::vector<std::string> names_by_index(const Tree& tree) {
  std::vector<std::pair<long long, std::string>> names;
  for (std::string& name : tree.list("sys/class/net").value_or(std::vector<std::string>()))
    names.emplace_back(tree.integer("sys/class/net/" + name + "/ifindex").value_or(0), std::move(name));
  std::sort(names.begin(), names.end());
  std::vector<std::string> sorted;
  for (auto& [index, name] : names) sorted.push_back(std::move(name));
  return sorted;
}

// What this process may bind to, exactly; recorded trees know it from the kernel's tables only.
std::vector<InterfaceAddress> live_addresses() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(raw, ::freeifaddrs);
  std::vector<InterfaceAddress> addresses;
  for (const ifaddrs* at = raw; at != nullptr && addresses.size() < kMaxInterfaceAddresses; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    const int family = at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t bytes = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    char text[NI_MAXHOST];
    if (::getnameinfo(at->ifa_addr, bytes, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    const std::string_view address = text;
    addresses.push_back({at->ifa_name, std::string(address.substr(0, address.find('%')))});
  }
  return addresses;
}

}  // namespace

void read_interfaces(const FactsSource& source, std::vector<InterfaceFacts>& interfaces) {
  const Tree& tree = source.tree;
  std::map<std::string, std::size_t, std::less<>> by_name;
  for (const std::string& name : names_by_index(tree)) {
    if (interfaces.size() == kMaxInterfaces) break;
    if (!tree.exists("sys/class/net/" + name + "/")) continue;  // "bonding_masters" is a file
    by_name.emplace(name, interfaces.size());
    interfaces.push_back(read_interface(tree, name));
  }
  const NetworkTables tables = read_network_tables(tree);
  for (const InterfaceAddress& address : tree.live() ? live_addresses() : recorded_addresses(tables))
    if (const auto found = by_name.find(address.interface); found != by_name.end())
      interfaces[found->second].addresses.push_back(address.address);
  if (!tables.default_routes) return;
  for (InterfaceFacts& facts : interfaces)
    facts.default_route = std::find(tables.default_routes->begin(), tables.default_routes->end(), facts.name) !=
                          tables.default_routes->end();
}

}  // namespace weft::topology
