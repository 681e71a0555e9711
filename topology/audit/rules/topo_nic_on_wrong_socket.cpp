// topo.nic_on_wrong_socket: all fabric NICs are on sockets without GPUs: the cards are in the wrong slots. Other NUMA
// nodes of one socket are no other socket.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"
#include "topology/audit/near_nics.hpp"

namespace weft::topology::audit {
namespace {

// Each once, in order; nothing if one of them is not known.
std::vector<int> sockets_of(const Input& input, int host, const std::vector<int>& devices) {
  std::vector<int> sockets;
  for (int device : devices) {
    const int socket = socket_of(input, host, device);
    if (socket < 0) return {};
    if (std::find(sockets.begin(), sockets.end(), socket) == sockets.end()) sockets.push_back(socket);
  }
  std::sort(sockets.begin(), sockets.end());
  return sockets;
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const Nearness& near = nearness(input, host);
    if (near.far_gpus.empty() || !near.near_gpus.empty() || near.far_nics.empty()) continue;
    const std::vector<int> of_gpus = sockets_of(input, host, near.far_gpus);
    const std::vector<int> of_nics = sockets_of(input, host, near.far_nics);
    const auto has_gpus = [&](int socket) { return std::binary_search(of_gpus.begin(), of_gpus.end(), socket); };
    if (of_gpus.empty() || of_nics.empty() || std::any_of(of_nics.begin(), of_nics.end(), has_gpus)) continue;
    const std::string place = names_of(input.locality, of_gpus);
    const bool one = near.far_nics.size() == 1;
    const std::string gpus =
        near.far_gpus.size() == 1 ? "the GPU is" : fmt::format("all {} GPUs are", near.far_gpus.size());
    report.add(
        self, self.severity, input.on(host, names_of(input.locality, near.far_nics)),
        fmt::format("{} on {}, where no GPU is; {} on {} (the first: {})", one ? "it is" : "they are",
                    names_of(input.locality, of_nics), gpus, place, input.locality.describe(near.far_gpus.front())),
        fmt::format("move the {} of {}", one ? "card to a slot" : "cards to slots", place));
  }
}

}  // namespace

extern const Rule topo_nic_on_wrong_socket;
const Rule topo_nic_on_wrong_socket = {
    .id = "topo.nic_on_wrong_socket",
    .severity = Severity::Warning,
    .summary = "fabric NICs are on a socket without GPUs",
    .silent =
        "NICs that are down, or whose socket is not known; hosts where a socket has both, also on different NUMA "
        "nodes; "
        "NICs much slower than others do not count",
    .fix = "move the card to a slot of the GPUs' socket",
    .reference = "NVIDIA/nccl#634",
    .check = check,
};

}  // namespace weft::topology::audit
