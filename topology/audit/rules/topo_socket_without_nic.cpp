// topo.socket_without_nic: the GPUs of a socket have no fabric NIC on it, while another socket has them: their traffic
// crosses between sockets.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/near_nics.hpp"

namespace weft::topology::audit {
namespace {

// Fabric NICs on that socket whose ports are down, of those that are worth a cable.
std::vector<int> down_on(const Input& input, int host, const Nearness& near, int socket) {
  std::vector<int> down;
  for (int nic : input.locality.nics(host)) {
    const Node& node = input.locality.node(nic);
    const NodeKind kind = input.locality.node(socket).kind;
    const bool is_down = node.fabric && node.active == false && !is_virtual_function(input, nic);
    if (is_down && is_fast_enough(input, near, nic) && ancestor_of(input.graph, nic, kind) == socket)
      down.push_back(nic);
  }
  return down;
}

// What to do: plug in the NICs that are there, else move half of the others.
std::string remedy(const Input& input, int host, const Nearness& near, const std::vector<int>& down) {
  const std::string pxn = pxn_advice(input, host, near);
  const std::string until_then =
      fmt::format("{} ranks of the near GPUs for traffic between hosts", pxn.empty() ? "use" : pxn + ", or");
  const std::size_t spare = near.nics.size() / 2;
  if (!down.empty()) return fmt::format("bring up {}; until then {}", names_of(input.locality, down), until_then);
  if (spare == 0) return fmt::format("with one NIC: {}", until_then);
  const std::vector<int> moved(near.nics.end() - static_cast<std::ptrdiff_t>(spare), near.nics.end());
  return fmt::format("move {} to {} of that socket; until then {}", names_of(input.locality, moved),
                     spare == 1 ? "a slot" : "slots", until_then);
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const Nearness near = nearness(input, host);
    if (near.near_gpus.empty()) continue;
    for (const auto& [socket, gpus] : sockets_without_nic(input, host, near)) {
      const std::vector<int> down = down_on(input, host, near, socket);
      const bool only_one = near.nics.size() < 2 && down.empty();
      report.add(self, only_one ? Severity::Info : self.severity, input.on(host, input.locality.node(socket).name),
                 fmt::format("{} {} on it; its fabric NICs: none of {} ({}){}", names_of(input.locality, gpus),
                             gpus.size() == 1 ? "is" : "are", near.nics.size(), names_of(input.locality, near.nics),
                             down.empty() ? "" : fmt::format("; {} down", names_of(input.locality, down))),
                 remedy(input, host, near, down));
    }
  }
}

}  // namespace

extern const Rule topo_socket_without_nic;
const Rule topo_socket_without_nic = {
    .id = "topo.socket_without_nic",
    .severity = Severity::Warning,
    .summary = "a socket with GPUs has no fabric NIC",
    .silent =
        "hosts without fabric NICs; one socket; NICs whose place is not known; where no GPU at all is near a NIC "
        "(topo.nic_on_wrong_socket); NICs much slower than others do not count",
    .fix =
        "move a NIC to that socket; until then use PXN where NVLink or XGMI joins the GPUs, or ranks of the near GPUs "
        "for traffic between hosts",
    .reference = "NVIDIA/nccl#634",
    .check = check,
};

}  // namespace weft::topology::audit
