// nvlink.absent: a GPU of a board shows no NVLink at all: its links did not train, or a virtual machine was given a GPU
// without them. Where the site file says how many a GPU has, none is too few on any machine.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/expected.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/nvlinks.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  int number = 0;
  for (const std::vector<NvLinks>& host : nvlinks_by_host(input)) {
    const int this_host = number++;
    const bool others =
        std::any_of(host.begin(), host.end(), [](const NvLinks& one) { return one.to_switch && one.active > 0; });
    for (const NvLinks& links : host) {
      if (links.active > 0) continue;
      if (links.by_site && *links.expected > 0 && (links.told || others)) {
        report.add(self, input.locality.describe(links.gpu),
                   fmt::format("0 of {} NVLinks are active ({})", *links.expected, links.why));
        continue;
      }
      if (host.size() < 2) continue;
      const Node& gpu = input.locality.node(links.gpu);
      const std::optional<ExpectedNvLinks> row = expected_nvlinks(gpu.device);
      const bool board = row && row->use != NvLinkUse::Bridged && links.told_singly;
      const bool odd = others && (links.expected || row);
      if (!odd && (!board || virtual_machine(input, this_host).value_or(false))) continue;
      report.add(self, input.locality.describe(links.gpu),
                 fmt::format("0 of {} NVLinks are active{}", links.expected ? *links.expected : row->links,
                             others ? ", while other GPUs of the host have theirs" : ""));
    }
  }
}

}  // namespace

extern const Rule nvlink_absent;
const Rule nvlink_absent = {
    .id = "nvlink.absent",
    .severity = Severity::Error,
    .summary = "a GPU of an NVLink board has no NVLink",
    .silent =
        "PCIe cards; sources that do not tell NVLinks; unless the site file expects some, single GPUs of a partitioned "
        "board, and where all GPUs of a virtual machine are alike",
    .fix =
        "reset the GPU and look for Xid 74 in dmesg; in a virtual machine pass all GPUs of the board and their "
        "NVSwitches, or start the fabric manager on the host",
    .reference = "NVIDIA/nccl-tests#264",
    .check = check,
};

}  // namespace weft::topology::audit
