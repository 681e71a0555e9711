// nvswitch.fm_restarted: the fabric manager was started again after the GPUs had registered with it: NVLink SHARP
// (NVLS) fails until they are reset.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  constexpr std::uint64_t kSlackSeconds = 60;
  for (int host = 0; host < input.hosts(); ++host) {
    const std::optional<std::uint64_t>& started = input.facts(host).fabric_manager_start_s;
    if (!started) continue;
    std::vector<int> before;
    std::uint64_t registered = 0;
    for (int gpu : accelerators(input, host)) {
      const DeviceFacts* facts = device_facts(input, gpu);
      if (facts == nullptr || !facts->fabric_registered_s || *facts->fabric_registered_s + kSlackSeconds >= *started)
        continue;
      before.push_back(gpu);
      registered = std::max(registered, *facts->fabric_registered_s);
    }
    if (!before.empty())
      report.add(self, input.on(host, "nvidia-fabricmanager"),
                 fmt::format("started {} s after boot, {} registered {} s after boot", *started,
                             names_of(input.locality, before), registered));
  }
}

}  // namespace

extern const Rule nvswitch_fm_restarted;
const Rule nvswitch_fm_restarted = {
    .id = "nvswitch.fm_restarted",
    .severity = Severity::Warning,
    .summary = "the fabric manager was restarted while GPUs were registered",
    .silent = "a start up to a minute after the registration; times that are not known",
    .fix = "reset the GPUs (nvidia-smi --gpu-reset) or reboot; as a stop-gap NCCL_NVLS_ENABLE=0",
    .reference = "NVIDIA/nccl#976, NVIDIA/nccl#1488",
    .check = check,
};

}  // namespace weft::topology::audit
