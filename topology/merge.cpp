// merge(): machines side by side, then joined to one network.
#include <fmt/format.h>

#include <cstddef>

#include "topology/append_hosts.hpp"
#include "topology/limits.hpp"
#include "topology/network.hpp"
#include "weft/graph.hpp"

namespace weft::topology {

Result<Graph> merge(const std::vector<Graph>& hosts) {
  if (hosts.empty()) return Status(Code::InvalidArgument, "topology: merge needs at least one machine");
  std::size_t nodes = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    WEFT_TRY(hosts[i].check().with_context(fmt::format("machine {} of the merge", i)));
    nodes += hosts[i].nodes.size();
  }
  if (nodes > kMaxNodes)
    return Status(Code::ResourceExhausted,
                  fmt::format("topology: merged machines have {} nodes, the limit is {}", nodes, kMaxNodes));
  if (hosts.size() == 1) return hosts.front();
  Graph cluster;
  cluster.name = fmt::format("{} machines like {}", hosts.size(), hosts.front().name);
  cluster.nodes.reserve(nodes + 1);
  int first_host = 0;
  for (const Graph& host : hosts) {
    append_hosts(cluster, first_host, host);
    first_host += host.hosts();
  }
  join_hosts(cluster);
  return cluster;
}

}  // namespace weft::topology
