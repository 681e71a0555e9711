// Look-ups by a node's name, then by its bus id.
#include "topology/device_facts.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "topology/device_kinds.hpp"
#include "topology/sources.hpp"

namespace weft::topology {

const DeviceFacts* device_facts(const Survey& survey, const Node& node) {
  if (node.host < 0) return nullptr;
  const HostFacts& facts = survey.facts(node.host);
  const DeviceFacts* found = facts.device(node.name);
  return found != nullptr ? found : facts.device(node.bus_id);
}

bool is_virtual_function(const DeviceFacts* facts) { return facts != nullptr && facts->physical_function.has_value(); }

std::optional<double> port_gbs(const Node& nic, const DeviceFacts* facts) {
  if (facts == nullptr || facts->ports.size() < 2) return nic.network_gbs;
  std::optional<double> fastest;
  for (const PortFacts& port : facts->ports)
    if (port.may_be_active() && port.rate_gbs) fastest = std::max(fastest.value_or(0), *port.rate_gbs);
  return fastest ? fastest : nic.network_gbs;
}

bool states_rate(const Survey& survey, const Node& nic, const DeviceFacts* facts) {
  if (!nic.network_gbs) return false;
  if (survey.source == kModelSource || nic.network_gbs != nominal_network_gbs(nic.device)) return true;
  const std::vector<InterfaceFacts>& interfaces = survey.facts(nic.host).interfaces;
  const bool by_interface = std::any_of(interfaces.begin(), interfaces.end(), [&](const InterfaceFacts& one) {
    return !nic.bus_id.empty() && one.bus_id == nic.bus_id && one.speed_gbs;
  });
  return by_interface ||
         (facts != nullptr && std::any_of(facts->ports.begin(), facts->ports.end(),
                                          [](const PortFacts& port) { return port.rate_gbs.has_value(); }));
}

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

std::string verbs_name(const Survey& survey, const Node& nic, const DeviceFacts& facts, std::size_t port) {
  const bool by_port = survey.nccl_version && nic.names.size() == facts.ports.size();
  return by_port ? nic.names[port] : verbs_name(nic, &facts);
}

std::vector<VerbsDevice> verbs_devices(const Survey& survey, const Node& nic, const DeviceFacts* facts) {
  if (facts == nullptr || facts->ports.empty()) return {{verbs_name(nic, facts), {1}}};
  std::vector<VerbsDevice> devices;
  for (std::size_t i = 0; i < facts->ports.size(); ++i) {
    std::string name = verbs_name(survey, nic, *facts, i);
    if (devices.empty() || name != devices.back().name) devices.push_back({std::move(name), {}});
    if (facts->ports[i].may_be_active()) devices.back().ports.push_back(facts->ports[i].number);
  }
  return devices;
}

}  // namespace weft::topology
