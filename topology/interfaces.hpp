// Which network interfaces NCCL would take for its first connections and for sockets, and which of them lead nowhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/facts/facts.hpp"

namespace weft::topology {

// Of interfaces that are up and have an address, those that NCCL would use, in its order: by NCCL_SOCKET_IFNAME where
// that is set, else those that start with "ib", else all but "docker" and "lo", else "docker", else "lo" (NCCL's user
// guide on NCCL_SOCKET_IFNAME).
std::vector<const InterfaceFacts*> socket_interfaces(const HostFacts& facts);

// Why no other host can be reached by it: "a virtual Ethernet pair of a container"; empty if one may be.
std::string_view leads_nowhere(const HostFacts& facts, const InterfaceFacts& interface);
// All its addresses are of the link only: 169.254.0.0/16, fe80::/10.
bool only_link_local(const InterfaceFacts& interface);
// The fastest one of the default route that is up and has not link-local addresses only; null if there is none.
const InterfaceFacts* leading_out(const HostFacts& facts);
// Of interfaces that are up and have an address, those that libraries would try although they lead nowhere: all but
// "docker" and "lo", which they leave out by themselves.
std::vector<std::string> misleading_interfaces(const HostFacts& facts);
// The interface a job should name: leading_out() if it has an address, else the first that leads anywhere; empty if
// none is.
std::string better_interface(const HostFacts& facts);

}  // namespace weft::topology
