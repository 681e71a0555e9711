// env.suggest: in a virtual machine with hidden links NCCL copies between PCIe GPUs through the CPU, where shared
// memory is faster on Intel hosts.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

bool is_intel(const Input& input, int host) {
  return input.facts(host).platform.cpu_vendor == "GenuineIntel" ||
         cpu_model(input, host).find("Intel") != std::string_view::npos;
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const HostFacts& facts = input.facts(host);
    const std::vector<int> gpus = accelerators(input, host);
    if (gpus.size() < 2 || !is_intel(input, host) || !is_nvidia(input, gpus.front())) continue;
    if (facts.variable("NCCL_P2P_LEVEL") || facts.variable("NCCL_P2P_DISABLE")) continue;
    const bool hidden = hides_link(input, gpus.front()) || virtual_machine(input, host).value_or(false);
    if (!hidden || input.locality.pci_link_gbs(gpus.front())) continue;
    const auto joined = [&](int gpu) {
      return input.locality.device_path(gpus.front(), gpu).path_class <= PathClass::Pxb;
    };
    if (std::any_of(gpus.begin() + 1, gpus.end(), joined)) continue;
    report.add(
        self, input.on(host, "NCCL_P2P_LEVEL=PXB"),
        fmt::format("{} PCIe GPUs on an Intel host reach each other only through the CPU, and their links are hidden",
                    gpus.size()));
  }
}

}  // namespace

extern const Rule env_suggest;
const Rule env_suggest = {
    .id = "env.suggest",
    .severity = Severity::Info,
    .summary = "a setting of NCCL is worth trying",
    .silent = "physical machines; GPUs with NVLink; links that are shown; NCCL_P2P_LEVEL or NCCL_P2P_DISABLE set",
    .fix = "try NCCL_P2P_LEVEL=PXB and measure",
    .reference = "NVIDIA/nccl#428",
    .check = check,
};

}  // namespace weft::topology::audit
