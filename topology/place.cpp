// place(): which device each rank runs on.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "base/plural.hpp"
#include "weft/graph.hpp"

namespace weft::topology {
namespace {

constexpr int kMaxRanks = 1 << 20;

struct HostDevices {
  bool gpus = false;
  std::vector<int> ids;  // GPUs if there are any, else core groups; else the machine itself
};

std::vector<HostDevices> devices_of(const Graph& graph) {
  std::vector<HostDevices> hosts(static_cast<std::size_t>(graph.hosts()));
  for (int id : graph.ids(NodeKind::Gpu)) {
    HostDevices& host = hosts[static_cast<std::size_t>(graph.nodes[static_cast<std::size_t>(id)].host)];
    host.gpus = true;
    host.ids.push_back(id);
  }
  for (NodeKind kind : {NodeKind::CoreGroup, NodeKind::Numa, NodeKind::Machine}) {
    std::vector<bool> has_devices;
    for (const HostDevices& host : hosts) has_devices.push_back(!host.ids.empty());
    for (int id : graph.ids(kind)) {
      const auto host = static_cast<std::size_t>(graph.nodes[static_cast<std::size_t>(id)].host);
      if (!has_devices[host]) hosts[host].ids.push_back(id);
    }
  }
  return hosts;
}

Status too_many(int host, int ranks, std::size_t gpus) {
  return Status(Code::InvalidArgument,
                fmt::format("placement: host {} would run {} but has {}; start fewer ranks or add hosts", host,
                            base::plural(static_cast<std::uint64_t>(ranks), "rank"), base::plural(gpus, "GPU")));
}

}  // namespace

Result<std::vector<int>> place(const Graph& graph, int ranks, int ranks_per_host) {
  if (ranks < 1 || ranks > kMaxRanks)
    return Status(Code::InvalidArgument, fmt::format("placement: {} ranks; give 1 to {}", ranks, kMaxRanks));
  if (ranks_per_host < 0)
    return Status(Code::InvalidArgument, fmt::format("placement: {} ranks per host", ranks_per_host));
  const std::vector<HostDevices> hosts = devices_of(graph);
  const int host_count = static_cast<int>(hosts.size());
  if (host_count == 0) return Status(Code::InvalidArgument, "placement: the graph has no machine");
  if (ranks_per_host > 0 && static_cast<long long>(ranks_per_host) * host_count < ranks)
    return Status(Code::InvalidArgument, fmt::format("placement: {} ranks do not fit on {} hosts with {} ranks each",
                                                     ranks, host_count, ranks_per_host));
  std::vector<int> placement;
  placement.reserve(static_cast<std::size_t>(ranks));
  for (int host = 0; host < host_count; ++host) {
    const int left = ranks - static_cast<int>(placement.size());
    const int even = ranks / host_count + (host < ranks % host_count ? 1 : 0);
    const int here = ranks_per_host > 0 ? std::min(left, ranks_per_host) : even;
    const HostDevices& devices = hosts[static_cast<std::size_t>(host)];
    const auto count = static_cast<long long>(devices.ids.size());
    if (devices.gpus && here > count) return too_many(host, here, devices.ids.size());
    for (int i = 0; i < here; ++i)
      placement.push_back(devices.ids[static_cast<std::size_t>(devices.gpus ? i : i * count / here)]);
  }
  return placement;
}

}  // namespace weft::topology
