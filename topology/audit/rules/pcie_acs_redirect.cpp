// pcie.acs_redirect: a PCIe port between two devices sends their traffic up to the CPU instead of across the switch.
//
// Access Control Services of a switch port (PCI Express base specification, 6.12): with request or completion redirect,
// peer-to-peer transfers go to the root complex, where they are slow or refused. Source validation alone harms nothing.
// A hypervisor needs redirection for the devices that it hands to guests: those are left alone, and guests, whose
// bridges are emulated.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

bool redirects(const DeviceFacts* device) {
  return device != nullptr && device->acs && (device->acs->request_redirect || device->acs->completion_redirect);
}

bool held_for_guests(const DeviceFacts* device) { return device != nullptr && device->driver == "vfio-pci"; }

struct Redirected {
  std::vector<int> ports;
  std::vector<std::string> pairs;
};

// Two devices below one switch, and the ports between them that redirect.
void look_between(const Input& input, int a, int b, Redirected& found) {
  const PathClass path_class = input.locality.device_path(a, b).path_class;
  if (path_class != PathClass::Pix && path_class != PathClass::Pxb) return;
  bool any = false;
  for (int bridge : bridges_between(input.locality, a, b)) {
    if (!redirects(device_facts(input, bridge))) continue;
    any = true;
    if (std::find(found.ports.begin(), found.ports.end(), bridge) == found.ports.end()) found.ports.push_back(bridge);
  }
  if (any) found.pairs.push_back(fmt::format("{} and {}", input.locality.node(a).name, input.locality.node(b).name));
}

Redirected look(const Input& input, int host) {
  Redirected found;
  std::vector<int> gpus = accelerators(input, host);
  std::erase_if(gpus, [&](int gpu) { return held_for_guests(device_facts(input, gpu)); });
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (int nic : usable_nics(input, host)) look_between(input, gpus[i], nic, found);
    for (std::size_t j = i + 1; j < gpus.size(); ++j) look_between(input, gpus[i], gpus[j], found);
  }
  return found;
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const std::vector<DeviceFacts>& devices = input.facts(host).devices;
    if (std::none_of(devices.begin(), devices.end(), [](const DeviceFacts& one) { return redirects(&one); })) continue;
    if (virtual_machine(input, host).value_or(false)) continue;
    const Redirected found = look(input, host);
    if (found.pairs.empty()) continue;
    std::vector<std::string> commands;
    for (int port : found.ports)
      commands.push_back(fmt::format("setpci -s {} ECAP_ACS+6.w=0000", input.locality.node(port).bus_id));
    report.add(self, self.severity, input.on(host, names_of(input.locality, found.ports)),
               fmt::format("ACS request redirect is on between {}: their peer-to-peer traffic goes through the CPU",
                           names_of(found.pairs)),
               fmt::format("turn ACS off in the BIOS, or on bare metal at each boot: {}", fmt::join(commands, "; ")));
  }
}

}  // namespace

extern const Rule pcie_acs_redirect;
const Rule pcie_acs_redirect = {
    .id = "pcie.acs_redirect",
    .severity = Severity::Error,
    .summary = "PCIe ports between a GPU and its peer redirect peer-to-peer traffic to the CPU",
    .silent =
        "source validation alone; devices without a common switch; GPUs joined by NVLink; devices held for guests "
        "(vfio-pci); virtual machines; registers that cannot be read without root",
    .fix = "turn ACS off in the BIOS, or on bare metal clear it at each boot: setpci -s PORT ECAP_ACS+6.w=0000",
    .reference = "NVIDIA/nccl#304",
    .check = check,
};

}  // namespace weft::topology::audit
