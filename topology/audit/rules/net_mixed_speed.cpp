// net.mixed_speed: slow ports among fast ones. NCCL uses all, and the slow ones set the pace.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/device_facts.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  constexpr double kClearly = 2;
  for (int host = 0; host < input.hosts(); ++host) {
    if (input.facts(host).variable("NCCL_IB_HCA")) continue;
    std::vector<int> nics = usable_nics(input, host);
    std::erase_if(nics, [&](int nic) { return !port_gbs(input, nic); });
    double fastest = 0;
    for (int nic : nics) fastest = std::max(fastest, *port_gbs(input, nic));
    std::vector<int> slow;
    std::vector<int> fast;
    for (int nic : nics) (*port_gbs(input, nic) * kClearly <= fastest ? slow : fast).push_back(nic);
    if (slow.empty()) continue;
    std::vector<std::string> names;
    for (int nic : fast)
      for (VerbsDevice& device : verbs_devices(input.survey, input.locality.node(nic), device_facts(input, nic)))
        names.push_back(std::move(device.name));
    report.add(self, self.severity, input.on(host, names_of(input.locality, slow)),
               fmt::format("{:g} Gbit/s, beside {} at {:g} Gbit/s", *port_gbs(input, slow.front()) * 8,
                           names_of(input.locality, fast), fastest * 8),
               fmt::format("name the fast ones: NCCL_IB_HCA=={}", fmt::join(names, ",")));
  }
}

}  // namespace

extern const Rule net_mixed_speed;
const Rule net_mixed_speed = {
    .id = "net.mixed_speed",
    .severity = Severity::Warning,
    .summary = "fabric ports of clearly different speed are all used",
    .silent =
        "ports that are down; several ports of one card, which are not added up; differences below a factor of two; "
        "NCCL_IB_HCA set; virtual functions",
    .fix = "name the fast ones: NCCL_IB_HCA==... (the second = is for whole names)",
    .reference = "NVIDIA/nccl#1412",
    .check = check,
};

}  // namespace weft::topology::audit
