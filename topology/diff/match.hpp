// Which device of one survey is which of another.
#pragma once

#include <vector>

#include "topology/diff/diff.hpp"
#include "topology/locality.hpp"

namespace weft::topology {

struct Side {
  const Survey& survey;
  Locality& locality;

  const Graph& graph() const { return survey.graph; }
  const Node& node(int id) const { return locality.node(id); }
  const DeviceFacts* facts(int id) const { return survey.facts(node(id).host).device(node(id).name); }
};

// Hosts by host name or machine name, else in order: pairs of host numbers.
struct HostMatch {
  int before;
  int after;
};
std::vector<HostMatch> match_hosts(const Side& before, const Side& after);

// Whether drives count: not between machines, which have drives of many makers, and not where one source tells none.
bool compares_storage(const Side& before, const Side& after, const HostMatch& host, Relation relation);

std::vector<DeviceMatch> match_devices(const Side& before, const Side& after, const std::vector<HostMatch>& hosts,
                                       Relation relation);

}  // namespace weft::topology
