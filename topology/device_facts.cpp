// Look-ups by a node's name, then by its bus id.
#include "topology/device_facts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace weft::topology {

const DeviceFacts* device_facts(const Survey& survey, const Node& node) {
  if (node.host < 0) return nullptr;
  const HostFacts& facts = survey.facts(node.host);
  const DeviceFacts* found = facts.device(node.name);
  return found != nullptr ? found : facts.device(node.bus_id);
}

bool is_virtual_function(const DeviceFacts* facts) { return facts != nullptr && facts->physical_function.has_value(); }

std::string verbs_name(const Node& nic, const DeviceFacts* facts) {
  if (facts != nullptr && facts->verbs) return *facts->verbs;
  constexpr std::array<std::string_view, 9> kVerbs = {"mlx",   "ib_",     "rocep", "roceP", "ibp",
                                                      "rdmap", "bnxt_re", "irdma", "hfi"};
  const auto is_verbs = [&](const std::string& name) {
    return std::any_of(kVerbs.begin(), kVerbs.end(), [&](std::string_view start) { return name.starts_with(start); });
  };
  if (is_verbs(nic.name)) return nic.name;
  const auto found = std::find_if(nic.names.begin(), nic.names.end(), is_verbs);
  return found == nic.names.end() ? nic.name : *found;
}

}  // namespace weft::topology
