// pcie.behind_chipset: a GPU or fabric NIC hangs on the chipset, which shares a narrow link to the CPU with disks and
// USB.
//
// `nvidia-smi topo -m` calls that PHB, as if it were lanes of the CPU. Known by the root ports of Intel's chipsets,
// which are devices 1a to 1d on bus 0 (datasheets of the 100 to 700 series and C620), and by the ids of AMD's chipset
// switches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/device_kinds.hpp"

namespace weft::topology::audit {
namespace {

// AMD 300 to 600 series and X570 chipsets: switch ports (PCI id repository).
constexpr std::array<std::string_view, 10> kAmdChipset = {"1022:43b0", "1022:43b1", "1022:43b4", "1022:43c6",
                                                          "1022:43c7", "1022:43e9", "1022:43ea", "1022:43f4",
                                                          "1022:43f5", "1022:57ad"};

bool is_intel_chipset_port(const Node& bridge) {
  if (!bridge.device.starts_with("8086:") || bridge.bus_id.size() != std::string_view("0000:00:1c.0").size())
    return false;
  const std::string_view bus = std::string_view(bridge.bus_id).substr(0, 8);
  const std::string_view slot = std::string_view(bridge.bus_id).substr(8, 2);
  return bus == "0000:00:" && (slot == "1a" || slot == "1b" || slot == "1c" || slot == "1d");
}

// The bridge of a chipset above a device; -1 if there is none.
int chipset_above(const Locality& locality, int device) {
  for (int node = locality.node(device).parent; node >= 0; node = locality.node(node).parent) {
    const Node& bridge = locality.node(node);
    const bool amd = std::find(kAmdChipset.begin(), kAmdChipset.end(), bridge.device) != kAmdChipset.end();
    if (amd || (is_intel_chipset_port(bridge) && !is_emulated_bridge(bridge.device))) return node;
  }
  return -1;
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (virtual_machine(input, host).value_or(false)) continue;
    std::vector<int> devices = accelerators(input, host);
    const std::vector<int> nics = usable_nics(input, host);
    if (devices.empty() || devices.size() + nics.size() < 2) continue;
    devices.insert(devices.end(), nics.begin(), nics.end());
    for (int device : devices)
      if (const int bridge = chipset_above(input.locality, device); bridge >= 0)
        report.add(self, input.locality.describe(device),
                   fmt::format("its path passes the chipset's port {}; expect about half of what lanes of the CPU give",
                               input.locality.node(bridge).bus_id));
  }
}

}  // namespace

extern const Rule pcie_behind_chipset;
const Rule pcie_behind_chipset = {
    .id = "pcie.behind_chipset",
    .severity = Severity::Warning,
    .summary = "a GPU or fabric NIC shares the chipset's link",
    .silent = "machines with one GPU and no fabric NIC (laptops, desktops); emulated bridges; virtual machines",
    .fix = "move the card to a slot whose lanes come from the CPU",
    .reference = "noonghunna/club-3090#895",
    .check = check,
};

}  // namespace weft::topology::audit
