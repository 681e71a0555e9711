// State and rate of network ports as sysfs shows them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft::topology {

struct PortState {
  std::optional<bool> active;
  std::optional<double> rate_gbs;  // GB/s each way, of the active ports together
  bool known() const { return active.has_value() || rate_gbs.has_value(); }
};

// "400 Gb/sec (4X NDR)" -> 50.
std::optional<double> parse_port_rate(std::string_view text);

// <root>/sys/class/infiniband/<device>/ports/*: the rate of a port that is down means nothing and is left out.
PortState read_verbs_ports(const std::string& root, const std::string& device);
// <root>/sys/class/net/<name>: `speed` is -1 or unreadable when down or virtual.
PortState read_net_device(const std::string& root, const std::string& name);

}  // namespace weft::topology
