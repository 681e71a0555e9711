// pcie.acs_redirect: a PCIe port between two devices sends their traffic up to the CPU instead of across the switch.
//
// Source validation alone harms nothing. Guests are left alone: their bridges are emulated.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/redirected_ports.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (virtual_machine(input, host).value_or(false)) continue;
    const RedirectedPorts found =
        redirected_ports(input.survey, input.locality, accelerators(input, host), usable_nics(input, host));
    if (found.pairs.empty()) continue;
    std::vector<std::string> pairs;
    for (const auto& [a, b] : found.pairs)
      pairs.push_back(fmt::format("{} and {}", input.locality.node(a).name, input.locality.node(b).name));
    std::vector<std::string> commands;
    for (int port : found.ports)
      commands.push_back(fmt::format("setpci -s {} ECAP_ACS+6.w=0000", input.locality.node(port).bus_id));
    report.add(self, self.severity, input.on(host, names_of(input.locality, found.ports)),
               fmt::format("ACS request redirect is on between {}: their peer-to-peer traffic goes through the CPU",
                           names_of(pairs)),
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
