// nvswitch.fabricmanager: the GPUs hang on NVSwitches, but nvidia-fabricmanager does not run: CUDA fails with error
// 802.
#include <fmt/format.h>

#include <set>
#include <string>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  std::set<int> with_switch;
  for (int node : input.graph.ids(NodeKind::NvSwitch)) with_switch.insert(input.locality.node(node).host);
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    if (facts.fabric_manager != false || in_container(input, host)) continue;
    bool completed = false;
    std::string state;
    for (int gpu : accelerators(input, host)) {
      const DeviceFacts* device = device_facts(input, gpu);
      if (device == nullptr || !device->fabric_state) continue;
      completed |= *device->fabric_state == "completed";
      state = *device->fabric_state;
    }
    const bool starved = !state.empty() && (state == "in progress" || state == "not started");
    if (completed || (!starved && (!with_switch.contains(host) || virtual_machine(input, host).value_or(false))))
      continue;
    report.add(
        self, self.severity, input.on(host, "nvidia-fabricmanager"),
        fmt::format("is not active{}", state.empty() ? ", and the GPUs hang on NVSwitches"
                                                     : fmt::format(", and the fabric state is \"{}\"", state)),
        fmt::format("install nvidia-fabricmanager {} (the driver's version) and start it: systemctl enable --now "
                    "nvidia-fabricmanager",
                    facts.kernel.nvidia_driver.value_or("")));
  }
}

}  // namespace

extern const Rule nvswitch_fabricmanager;
const Rule nvswitch_fabricmanager = {
    .id = "nvswitch.fabricmanager",
    .severity = Severity::Error,
    .summary = "NVSwitches without a fabric manager",
    .silent =
        "GPUs whose fabric state is completed; containers and virtual machines, where it runs outside; hosts without "
        "NVSwitches",
    .fix =
        "install nvidia-fabricmanager of exactly the driver's version and start it: systemctl enable --now "
        "nvidia-fabricmanager",
    .reference = "NVIDIA/nccl-tests#264",
    .check = check,
};

}  // namespace weft::topology::audit
