// nvlink.fabric_state: a GPU is not registered with the NVLink fabric: CUDA fails with error 802 although nvidia-smi
// lists it.
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    if (input.facts(host).fabric_manager == false && !in_container(input, host)) continue;
    std::map<std::string, std::vector<int>> states;
    for (int gpu : accelerators(input, host)) {
      const DeviceFacts* facts = device_facts(input, gpu);
      if (facts != nullptr && (facts->fabric_state == "in progress" || facts->fabric_state == "not started"))
        states[*facts->fabric_state].push_back(gpu);
    }
    for (const auto& [state, gpus] : states)
      report.add(self, state == "in progress" ? Severity::Warning : Severity::Error,
                 input.on(host, names_of(input.locality, gpus)), fmt::format("the fabric state is \"{}\"", state));
  }
}

}  // namespace

extern const Rule nvlink_fabric_state;
const Rule nvlink_fabric_state = {
    .id = "nvlink.fabric_state",
    .severity = Severity::Error,
    .summary = "a GPU is not registered with the NVLink fabric",
    .silent = "GPUs without a fabric; a fabric manager that does not run (nvswitch.fabricmanager)",
    .fix = "wait while it is in progress; else restart nvidia-fabricmanager, reset the GPUs and look at its log",
    .reference = "NVIDIA/nccl-tests#264",
    .check = check,
};

}  // namespace weft::topology::audit
