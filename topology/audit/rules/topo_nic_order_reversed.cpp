// topo.nic_order_reversed: NICs are numbered against the order of the GPUs: whoever pairs GPU i with NIC i pairs far
// ones.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

void check(const Rule& self, const Input& input, Report& report) {
  constexpr std::size_t kFew = 4;
  for (int host = 0; host < input.hosts(); ++host) {
    const std::vector<int> gpus = accelerators(input, host);
    std::vector<int> own;
    for (int gpu : gpus) {
      const std::vector<int> nearest = input.locality.nearest_nics(gpu);
      if (nearest.size() != 1) break;
      own.push_back(nearest.front());
    }
    if (gpus.size() < kFew || own.size() != gpus.size()) continue;
    if (std::adjacent_find(own.begin(), own.end(), std::less_equal<int>()) != own.end()) continue;
    report.add(self, input.on(host, names_of(input.locality, own)),
               fmt::format("{} pairs with {}, {} with {}", input.locality.node(gpus.front()).name,
                           input.locality.node(own.front()).name, input.locality.node(gpus.back()).name,
                           input.locality.node(own.back()).name));
  }
}

}  // namespace

extern const Rule topo_nic_order_reversed;
const Rule topo_nic_order_reversed = {
    .id = "topo.nic_order_reversed",
    .severity = Severity::Info,
    .summary = "NICs are numbered in the reverse order of GPUs",
    .silent = "fewer than 4 GPUs with a NIC of their own; any other order",
    .fix = "pair by place and not by number (NCCL does; in scripts use topo-probe --bindings)",
    .reference = "NVIDIA/nccl#1453",
    .check = check,
};

}  // namespace weft::topology::audit
