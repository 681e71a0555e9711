// nvlink.links_missing: a GPU has fewer NVLinks than GPUs of its id or its kind have: a bridge that is not seated, a
// link that did not train.
//
// Cards without a bridge, meshes whose wiring differs by machine, H100 NVL with 12 and A800 with 8 are no faults.
#include <fmt/format.h>

#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/nvlinks.hpp"

namespace weft::topology::audit {
namespace {

// Where a source has no ids: two GPUs joined by 3 links, which no bridge has. V100 on Power9 has that many, so it is
// only worth a look.
void check_bridges(const Rule& self, const Input& input, Report& report) {
  constexpr int kNoBridge = 3;
  for (const Link& link : input.graph.links) {
    const Node& a = input.locality.node(link.a);
    const Node& b = input.locality.node(link.b);
    if (link.kind != LinkKind::NvLink || link.count != kNoBridge || a.kind != NodeKind::Gpu || b.kind != NodeKind::Gpu)
      continue;
    if (!a.device.empty() || input.locality.gpus(a.host).size() != 2) continue;
    report.add(self, Severity::Info, fmt::format("{} and {}", input.locality.describe(a.id), b.name),
               "3 NVLinks between them; bridges of cards have 2, 4 or 12 (V100 on Power9 has 3)");
  }
}

void check(const Rule& self, const Input& input, Report& report) {
  for (const std::vector<NvLinks>& host : nvlinks_by_host(input))
    for (const NvLinks& links : host)
      if (links.expected && links.active > 0 && links.active < *links.expected)
        report.add(self, input.locality.describe(links.gpu),
                   fmt::format("{} of {} NVLinks are active ({})", links.active, *links.expected, links.why));
  check_bridges(self, input, report);
}

}  // namespace

extern const Rule nvlink_links_missing;
const Rule nvlink_links_missing = {
    .id = "nvlink.links_missing",
    .severity = Severity::Error,
    .summary = "a GPU has fewer NVLinks than it should",
    .silent =
        "cards without a bridge; soldered meshes without a switch; ids the table does not have, unless most GPUs like "
        "it on the host have more; one link more or less of all GPUs alike",
    .fix =
        "seat or replace the NVLink bridge; on boards reset the GPU and look for Xid 74 and 149 in dmesg, then have "
        "the board repaired",
    .reference = "NVIDIA/nccl#557",
    .check = check,
};

}  // namespace weft::topology::audit
