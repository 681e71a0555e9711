// The network between hosts: which NICs of a host carry it, and the switch they are joined to.
#pragma once

#include <optional>
#include <vector>

#include "topology/rates.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

// The NICs of each host that carry traffic between hosts, in order of their ids: those a fabric can drive if there are
// any, else the Ethernet ones. A NIC whose port is known to be down, or is a wireless or loopback device, is left out.
std::vector<std::vector<int>> network_nics(const Graph& graph);

// The rate of a NIC's link into the network, and whether it is known or assumed.
struct NetworkRate {
  rates::Rate rate;
  bool known = false;
};
NetworkRate network_rate_of(const Node& nic);

// Whether a port among others would hold them up: its rate is known, and below three quarters of the fastest one's.
bool is_much_slower(const std::optional<double>& port_gbs, double fastest_gbs);

// Joins all hosts to one non-blocking switch, through their NICs; a host without a NIC (a container) gets a link from
// its machine, at the assumed Ethernet rate. A graph of one host stays as it is.
void join_hosts(Graph& graph);

}  // namespace weft::topology
