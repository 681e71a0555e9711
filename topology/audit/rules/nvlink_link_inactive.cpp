// nvlink.link_inactive: a link that is wired, as its other end is known, is not active.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/plural.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/nvlinks.hpp"

namespace weft::topology::audit {
namespace {

bool is_counted_short(const std::vector<NvLinks>& host, int gpu) {
  return std::any_of(host.begin(), host.end(), [&](const NvLinks& links) {
    return links.gpu == gpu && links.expected && links.active > 0 && links.active < *links.expected;
  });
}

void check(const Rule& self, const Input& input, Report& report) {
  for (const std::vector<NvLinks>& host : nvlinks_by_host(input)) {
    for (const NvLinks& links : host) {
      const DeviceFacts* facts = device_facts(input, links.gpu);
      if (facts == nullptr || is_counted_short(host, links.gpu)) continue;
      std::vector<std::string> dead;
      for (const NvLinkFacts& link : facts->nvlinks)
        if (link.active == false && link.remote_bus_id)
          dead.push_back(fmt::format("link {} to {}", link.index, *link.remote_bus_id));
      if (!dead.empty())
        report.add(self, input.locality.describe(links.gpu),
                   fmt::format("{} of {}: not active: {}", dead.size(), base::plural(facts->nvlinks.size(), "link"),
                               names_of(dead)));
    }
  }
}

}  // namespace

extern const Rule nvlink_link_inactive;
const Rule nvlink_link_inactive = {
    .id = "nvlink.link_inactive",
    .severity = Severity::Error,
    .summary = "a wired NVLink is not active",
    .silent =
        "links without an other end (cards without a bridge, links a board does not use); GPUs of which "
        "nvlink.links_missing tells",
    .fix =
        "reset the GPU (nvidia-smi --gpu-reset) and look for Xid 74 in dmesg; if it stays, the link or the switch is "
        "failing",
    .reference = "NVIDIA/nccl#557",
    .check = check,
};

}  // namespace weft::topology::audit
