// ncclxml.too_many_nodes: NCCL's loader of topology files holds 256 elements; a file with more is refused.
#include <fmt/format.h>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

constexpr std::size_t kMost = 256;

// Elements that the graph stands for: system, cpu, pci of switches and devices, gpu with its nvlinks, nic and net.
std::size_t elements(const Input& input, int host) {
  std::size_t count = 1 + input.locality.numas(host).size();
  for (const Node& node : input.graph.nodes) {
    if (node.host != host) continue;
    const bool device = node.kind == NodeKind::Gpu || node.kind == NodeKind::Nic;
    const bool bridge = (node.kind == NodeKind::PciSwitch || node.kind == NodeKind::PciBridge) && !node.bus_id.empty();
    if (bridge) count += 1;
    if (device) count += node.kind == NodeKind::Gpu ? 2 : 3;
  }
  for (const Link& link : input.graph.links)
    if ((link.kind == LinkKind::NvLink || link.kind == LinkKind::Xgmi) && input.locality.node(link.a).host == host)
      count += input.locality.node(link.b).kind == NodeKind::NvSwitch ? 1 : 2;
  return count;
}

void check(const Rule& self, const Input& input, Report& report) {
  if (!input.survey.nccl_version) return;
  for (int host = 0; host < input.hosts(); ++host)
    if (const std::size_t count = elements(input, host); count > kMost)
      report.add(self, input.on(host, "NCCL topology XML"),
                 fmt::format("about {} elements; the loader holds {}", count, kMost));
}

}  // namespace

extern const Rule ncclxml_too_many_nodes;
const Rule ncclxml_too_many_nodes = {
    .id = "ncclxml.too_many_nodes",
    .severity = Severity::Error,
    .summary = "the machine does not fit into NCCL's topology file",
    .silent = "machines that were not read from NCCL XML; up to 256 elements",
    .fix = "leave the NICs that are not used out of the file, or virtual functions; newer NCCL may hold more",
    .reference = "NVIDIA/nccl#2160",
    .check = check,
};

}  // namespace weft::topology::audit
