// Ports between two devices, and what their registers say.
#include "topology/redirected_ports.hpp"

#include <algorithm>

#include "topology/device_facts.hpp"

namespace weft::topology {
namespace {

bool redirects(const DeviceFacts* device) {
  return device != nullptr && device->acs && (device->acs->request_redirect || device->acs->completion_redirect);
}

bool held_for_guests(const DeviceFacts* device) { return device != nullptr && device->driver == "vfio-pci"; }

// Two devices below one switch, and the ports between them that redirect.
void look_between(const Survey& survey, Locality& locality, int a, int b, RedirectedPorts& found) {
  const PathClass path_class = locality.device_path(a, b).path_class;
  if (path_class != PathClass::Pix && path_class != PathClass::Pxb) return;
  bool any = false;
  for (int bridge : bridges_between(locality, a, b)) {
    if (!redirects(device_facts(survey, locality.node(bridge)))) continue;
    any = true;
    if (std::find(found.ports.begin(), found.ports.end(), bridge) == found.ports.end()) found.ports.push_back(bridge);
  }
  if (any) found.pairs.emplace_back(a, b);
}

}  // namespace

RedirectedPorts redirected_ports(const Survey& survey, Locality& locality, std::vector<int> gpus,
                                 const std::vector<int>& nics) {
  RedirectedPorts found;
  if (gpus.empty()) return found;
  const std::vector<DeviceFacts>& devices = survey.facts(locality.node(gpus.front()).host).devices;
  if (std::none_of(devices.begin(), devices.end(), [](const DeviceFacts& one) { return redirects(&one); }))
    return found;
  std::erase_if(gpus, [&](int gpu) { return held_for_guests(device_facts(survey, locality.node(gpu))); });
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (int nic : nics) look_between(survey, locality, gpus[i], nic, found);
    for (std::size_t j = i + 1; j < gpus.size(); ++j) look_between(survey, locality, gpus[i], gpus[j], found);
  }
  return found;
}

std::vector<int> bridges_between(Locality& locality, int gpu, int device) {
  std::vector<int> bridges;
  for (const Hop& hop : locality.device_path(gpu, device).hops) {
    const Link& link = locality.graph().links[static_cast<std::size_t>(hop.link)];
    const int reached = hop.forward ? link.b : link.a;
    const NodeKind kind = locality.node(reached).kind;
    if (kind == NodeKind::PciBridge || kind == NodeKind::PciSwitch) bridges.push_back(reached);
  }
  return bridges;
}

}  // namespace weft::topology
