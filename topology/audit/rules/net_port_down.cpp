// net.port_down: a port of the fabric is down, while its card's other port, or NICs like it, are up.
//
// With most NICs like it up it is a warning; an unused second port of a card is usual. The rate that a port prints
// while it is down means nothing and is not told.
#include <fmt/format.h>

#include <string>

#include "base/plural.hpp"
#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

bool same_card(const Node& a, const Node& b) {
  constexpr std::size_t kSlot = std::string_view("0000:c1:00").size();
  return a.bus_id.size() > kSlot && a.bus_id.substr(0, kSlot) == b.bus_id.substr(0, kSlot);
}

std::string state_of(const Input& input, int nic) {
  const DeviceFacts* facts = device_facts(input, nic);
  if (facts == nullptr || facts->ports.empty() || !facts->ports.front().physical_state) return "its port is down";
  return fmt::format("its port is {}, {}", facts->ports.front().state.value_or("DOWN"),
                     *facts->ports.front().physical_state);
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    for (int nic : input.locality.nics(host)) {
      const Node& node = input.locality.node(nic);
      if (!node.fabric || node.active.value_or(true) || is_virtual_function(input, nic)) continue;
      std::size_t like = 0;
      std::size_t up = 0;
      bool card = false;
      for (int other : input.locality.nics(host)) {
        const Node& one = input.locality.node(other);
        if (other == nic || node.device.empty() || one.device != node.device || !one.fabric) continue;
        ++like;
        up += one.active.value_or(false) ? 1 : 0;
        card |= same_card(node, one) && one.active.value_or(false);
      }
      if (up == 0) continue;
      const bool odd = !card && up >= 3 && up == like;
      report.add(self, odd ? Severity::Warning : Severity::Info, input.locality.describe(nic),
                 fmt::format("{}; {} of {} like it {} up", state_of(input, nic), up, base::plural(like, "other"),
                             up == 1 ? "is" : "are"),
                 fmt::format("{}; if it is not meant to be used, leave it out: NCCL_IB_HCA=^={}", self.fix,
                             verbs_name(input, nic)));
    }
  }
}

}  // namespace

extern const Rule net_port_down;
const Rule net_port_down = {
    .id = "net.port_down",
    .severity = Severity::Info,
    .summary = "a fabric port is down while others like it are up",
    .silent = "hosts where no port like it is up; virtual functions",
    .fix = "plug in the cable and look at the switch's port",
    .reference = "NVIDIA/nccl#489",
    .check = check,
};

}  // namespace weft::topology::audit
