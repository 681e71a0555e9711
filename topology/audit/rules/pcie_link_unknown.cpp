// pcie.link_unknown: GPUs whose PCIe link the source shows as unknown, as virtual machines do. NCCL then assumes x16 of
// generation 3 and chooses between peer-to-peer and shared memory blindly. A file of NCCL that leaves the attributes
// out need not mean that: NCCL completes it from the machine.
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/plural.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void tell(const Rule& self, const Input& input, int host, Severity severity, const std::vector<int>& gpus,
          std::string_view by_nccl, Report& report) {
  if (gpus.empty()) return;
  report.add(self, severity, input.on(host, names_of(input.locality, gpus)),
             fmt::format("speed and width of {} are {} for 8 GT/s x16, 12 GB/s", base::plural(gpus.size(), "PCIe link"),
                         by_nccl));
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const bool guest = virtual_machine(input, host).value_or(false);
    if ((!input.survey.nccl_version && !guest) || accelerators(input, host).size() < 2) continue;
    std::vector<int> hidden;
    std::vector<int> left_out;
    for (int gpu : accelerators(input, host)) {
      if (input.locality.node(gpu).bus_id.empty() || input.locality.pci_link_gbs(gpu)) continue;
      (guest || hides_link(input, gpu) ? hidden : left_out).push_back(gpu);
    }
    tell(self, input, host, self.severity, hidden, "not shown; NCCL takes them", report);
    tell(self, input, host, Severity::Info, left_out,
         "left out; NCCL reads them from the machine, and takes what that hides", report);
  }
}

}  // namespace

extern const Rule pcie_link_unknown;
const Rule pcie_link_unknown = {
    .id = "pcie.link_unknown",
    .severity = Severity::Warning,
    .summary = "the PCIe links of GPUs are hidden",
    .silent =
        "sources that never tell links (nvidia-smi, rocm-smi, hwloc XML of physical machines), and hosts with one GPU",
    .fix =
        "give NCCL a topology file (NCCL_TOPO_FILE; topo-probe --format nccl-xml writes one), or compare "
        "NCCL_P2P_DISABLE=1 by measuring",
    .reference = "NVIDIA/nccl#428",
    .check = check,
};

}  // namespace weft::topology::audit
