// The NICs of a host that its ranks should use.
#include <fmt/format.h>

#include <algorithm>

#include "topology/advice/bindings.hpp"
#include "topology/device_facts.hpp"
#include "topology/network.hpp"

namespace weft::topology::advice {

std::vector<int> usable_nics(const Survey& survey, const Locality& locality, int host,
                             std::vector<std::string>* left_out) {
  const auto leave = [&](int nic, std::string_view why) {
    if (left_out != nullptr) left_out->push_back(fmt::format("{} is not used: {}", locality.node(nic).name, why));
  };
  const std::vector<int>& all = locality.nics(host);
  const bool fabric = std::any_of(
      all.begin(), all.end(), [&](int nic) { return locality.node(nic).fabric && locality.node(nic).active != false; });
  std::vector<int> nics;
  double fastest = 0;
  for (int id : all) {
    const Node& nic = locality.node(id);
    if (fabric && !nic.fabric) continue;
    if (is_virtual_function(device_facts(survey, nic))) {
      leave(id, "it is a virtual function");
    } else if (nic.active == false) {
      leave(id, "its port is down");
    } else {
      nics.push_back(id);
      fastest = std::max(fastest, port_gbs(nic, device_facts(survey, nic)).value_or(0));
    }
  }
  std::erase_if(nics, [&](int id) {
    const std::optional<double> gbs = port_gbs(locality.node(id), device_facts(survey, locality.node(id)));
    if (!is_much_slower(gbs, fastest)) return false;
    leave(id, fmt::format("{:g} Gbit/s is much less than the {:g} of others", *gbs * 8, fastest * 8));
    return true;
  });
  return nics;
}

}  // namespace weft::topology::advice
