// From a graph to resources: overheads, capacities and routes, with where each number comes from.
#include "algorithms/simulate_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "topology/cpu_set.hpp"

namespace weft::algorithms {
namespace {

using topology::Graph;
using topology::Link;
using topology::LinkKind;
using topology::NodeKind;

// The share of a link's nominal rate that payload reaches, in thousandths. Rates that were measured count in full; so
// do those inside a CPU, which no data sheet states and which the graph gives as what a copy reaches.
int payload_permille(const Link& link) {
  if (link.source == "measured") return 1000;
  switch (link.kind) {
    case LinkKind::Internal:
      return 1000;
    case LinkKind::CpuSocket:
      return 1000;
    case LinkKind::NvLink:
      return 820;  // NCCL counts 20.6 of 25 GB/s on NVLink 4, 20 of 25 on NVLink 2 and 3
    case LinkKind::Xgmi:
      return 750;  // about 48 of 64 GB/s between two MI300X
    case LinkKind::C2c:
      return 900;  // assumed
    case LinkKind::Pci:
      return 760;  // NCCL counts 12 of 15.75 GB/s on gen3 x16; gen5 x16 reaches 48 of 63
    case LinkKind::Network:
      return 960;  // NCCL counts 12 of 12.5 GB/s on 100 Gb/s
  }
  return 1000;
}

// What carries a message, as far as its software is concerned.
enum class Medium { SharedMemory, GpuLink, GpuPci, Verbs, Socket };

// What software adds to each message, on each side.
struct Overhead {
  std::int64_t send_ps;
  std::int64_t receive_ps;
};

Overhead overhead_of(Medium medium) {
  switch (medium) {
    case Medium::SharedMemory:
      return {15'000, 15'000};  // interpreter and endpoint: 11 ns measured for the pair, plus the call
    case Medium::GpuLink:
      return {100'000, 200'000};  // NCCL's hop over NVLink is 0.6 us with the flag protocols ...
    case Medium::GpuPci:
      return {200'000, 300'000};  // ... and over PCIe 1.0 us; the rest is the path's latency
    case Medium::Verbs:
      return {400'000, 600'000};  // posting to and polling a verbs queue
    case Medium::Socket:
      return {5'000'000, 5'000'000};  // a system call and a wake-up on each side
  }
  return {0, 0};
}

// Once per call: kernel launch and set-up on GPUs (NCCL's base latency of a ring); next to nothing on CPUs.
constexpr std::int64_t kGpuStartPs = 6'600'000;

// Rates of ranks whose node does not state one: a core copies about 8 GB/s out of cache (one stream of loads and stores
// at 3 GHz beyond L2); GPU memory takes a copy at about half of an A100's 1.5 TB/s.
constexpr double kCoreCopyGbs = 8.0;
constexpr double kGpuCopyGbs = 750.0;
constexpr double kSameCoreGroupUs = 0.1;  // one cache line between cores of a group: 50 to 120 ns

// Beyond this a flow's bytes in fixed point would not fit 64 bits.
constexpr std::uint64_t kMaxWorkBytes = std::uint64_t{1} << 46;

std::int64_t bytes_per_us(double gbs) { return std::max<std::int64_t>(1, std::llround(gbs * 1000.0)); }
std::int64_t picoseconds(double us) { return std::llround(us * 1e6); }

std::string node_name(const Graph& graph, int id) {
  const topology::Node& node = graph.nodes[static_cast<std::size_t>(id)];
  if (node.kind == NodeKind::Machine || graph.hosts() < 2 || node.host < 0) return node.name;
  for (const topology::Node& other : graph.nodes)
    if (other.kind == NodeKind::Machine && other.host == node.host) return other.name + "/" + node.name;
  return fmt::format("host{}/{}", node.host, node.name);
}

// Where ranks outnumber the processors of the node that they are placed on, they share them in turn.
struct CoreSharing {
  std::vector<int> first;           // by rank: the first rank on the same core
  std::vector<int> ranks_per_core;  // by rank
};

int processors_of(const topology::Node& node) {
  if (!node.cpus.empty()) return static_cast<int>(topology::count_cpus(node.cpus));
  return node.cores.value_or(0);
}

CoreSharing share_cores(const Graph& graph, const std::vector<int>& placement) {
  std::map<int, std::vector<int>> ranks_on;
  for (std::size_t rank = 0; rank < placement.size(); ++rank)
    ranks_on[placement[rank]].push_back(static_cast<int>(rank));
  CoreSharing sharing;
  sharing.first.resize(placement.size());
  sharing.ranks_per_core.assign(placement.size(), 1);
  for (const auto& [id, ranks] : ranks_on) {
    const topology::Node& node = graph.nodes[static_cast<std::size_t>(id)];
    const std::size_t known = node.kind == NodeKind::Gpu ? 0 : static_cast<std::size_t>(processors_of(node));
    const std::size_t cores = known == 0 ? ranks.size() : std::min(known, ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      sharing.first[static_cast<std::size_t>(ranks[i])] = ranks[i % cores];
      sharing.ranks_per_core[static_cast<std::size_t>(ranks[i])] = static_cast<int>((ranks.size() + cores - 1) / cores);
    }
  }
  return sharing;
}

std::vector<Resource> link_resources(const Graph& graph) {
  std::vector<Resource> resources;
  std::vector<std::string> names;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) names.push_back(node_name(graph, static_cast<int>(id)));
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const Link& link = graph.links[i];
    const std::int64_t capacity =
        std::max<std::int64_t>(1, bytes_per_us(link.bandwidth_gbs) * payload_permille(link) / 1000);
    const std::string& a = names[static_cast<std::size_t>(link.a)];
    const std::string& b = names[static_cast<std::size_t>(link.b)];
    resources.push_back({a + " -> " + b, capacity, static_cast<int>(i), true, -1});
    resources.push_back({b + " -> " + a, capacity, static_cast<int>(i), false, -1});
  }
  return resources;
}

std::string core_name(const std::vector<int>& firsts, int rank) {
  std::vector<std::size_t> ranks;
  for (std::size_t other = 0; other < firsts.size(); ++other)
    if (firsts[other] == rank) ranks.push_back(other);
  return fmt::format("core of {} {}", ranks.size() > 1 ? "ranks" : "rank", fmt::join(ranks, ", "));
}

std::vector<Resource> list_resources(const Graph& graph, const std::vector<int>& placement, const CoreSharing& sharing,
                                     const Calibration& calibration) {
  std::vector<Resource> resources = link_resources(graph);
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    if (sharing.first[rank] != static_cast<int>(rank)) continue;
    const topology::Node& node = graph.nodes[static_cast<std::size_t>(placement[rank])];
    const bool gpu = node.kind == NodeKind::Gpu;
    const double gbs = node.loopback_gbs.value_or(gpu ? kGpuCopyGbs : kCoreCopyGbs);
    const int number = static_cast<int>(rank);
    resources.push_back({gpu ? fmt::format("memory of rank {}", rank) : core_name(sharing.first, number),
                         bytes_per_us(gbs), -1, true, number,
                         gpu ? nullptr : calibration.with(sharing.ranks_per_core[rank])});
  }
  std::sort(resources.begin(), resources.end(), [](const Resource& x, const Resource& y) {
    return std::tie(x.name, x.capacity) < std::tie(y.name, y.capacity);
  });
  return resources;
}

// Behind the others, and so in an order of their own.
HostWays add_host_ways(const NetworkCalibration& network, std::vector<Resource>& resources) {
  HostWays ways;
  const auto add = [&](std::string name, std::int64_t capacity) {
    resources.push_back({std::move(name), capacity});
    return static_cast<int>(resources.size()) - 1;
  };
  for (std::size_t host = 0; host < network.hosts.size(); ++host) {
    ways.up.push_back(add(fmt::format("host {} -> network", host), network.hosts[host].up));
    ways.down.push_back(add(fmt::format("network -> host {}", host), network.hosts[host].down));
  }
  if (network.together > 0) ways.together = add("network that all hosts share", network.together);
  return ways;
}

std::int64_t call_ps(const Calibration& calibration, const std::vector<int>& ranks_per_core) {
  const int most = ranks_per_core.empty() ? 1 : *std::max_element(ranks_per_core.begin(), ranks_per_core.end());
  if (const HostCalibration* const host = calibration.with(most)) return host->call_ps;
  return calibration.network ? calibration.network->call_ps : 0;
}

Medium medium_of(const Graph& graph, const topology::Path& path, bool gpus) {
  bool network = false;
  bool verbs = true;
  bool pci = false;
  for (const topology::Hop& hop : path.hops) {
    const Link& link = graph.links[static_cast<std::size_t>(hop.link)];
    pci = pci || link.kind == LinkKind::Pci;
    if (link.kind != LinkKind::Network) continue;
    network = true;
    for (const int end : {link.a, link.b}) {
      const topology::Node& node = graph.nodes[static_cast<std::size_t>(end)];
      if (node.kind == NodeKind::Nic) verbs = verbs && node.fabric;
    }
  }
  if (network) return verbs ? Medium::Verbs : Medium::Socket;
  if (gpus) return pci ? Medium::GpuPci : Medium::GpuLink;
  return Medium::SharedMemory;
}

}  // namespace

bool FabricState::crosses_measured_network(int from, int to) const {
  if (ways.up.empty()) return false;
  const auto host_of = [&](int rank) {
    return graph.nodes[static_cast<std::size_t>(placement[static_cast<std::size_t>(rank)])].host;
  };
  return host_of(from) != host_of(to);
}

Route FabricState::make_route(int from, int to) const {
  const std::size_t sender = static_cast<std::size_t>(from);
  const std::size_t receiver = static_cast<std::size_t>(to);
  const bool same_node = placement[sender] == placement[receiver];
  Route route;
  topology::Path path;
  if (same_node) {
    path.latency_us = graph.nodes[static_cast<std::size_t>(placement[sender])].loopback_us.value_or(kSameCoreGroupUs);
  } else {
    path = graph.best_path(placement[sender], placement[receiver]);
    if (path.path_class == topology::PathClass::None) return route;
  }
  route.connected = true;
  const Medium medium = medium_of(graph, path, on_gpu[sender] && on_gpu[receiver]);
  const Overhead overhead = overhead_of(medium);
  route.latency_ps = route.slot_latency_ps = picoseconds(path.latency_us);
  route.send_overhead_ps = overhead.send_ps;
  route.receive_overhead_ps = overhead.receive_ps;
  if (crosses_measured_network(from, to)) {
    const auto host = [&](std::size_t rank) {
      return static_cast<std::size_t>(graph.nodes[static_cast<std::size_t>(placement[rank])].host);
    };
    route.resources = {ways.up[host(sender)], ways.down[host(receiver)]};
    if (ways.together >= 0) route.resources.push_back(ways.together);
    route.latency_ps = route.slot_latency_ps = calibration.network->latency_ps;
    route.send_overhead_ps = route.receive_overhead_ps = calibration.network->overhead_ps;
  } else {
    for (const topology::Hop& hop : path.hops)
      route.resources.push_back(link_resource[hop.forward ? 1 : 0][static_cast<std::size_t>(hop.link)]);
    const HostCalibration* const measured = calibration.with(ranks_per_core[receiver]);
    if (medium == Medium::SharedMemory && measured != nullptr && !on_gpu[sender] && !on_gpu[receiver]) {
      // Ranks that share a core take turns on it, so each further one makes a message wait as much longer.
      const std::int64_t turns = std::max(1, ranks_per_core[receiver] / measured->ranks_per_core);
      route.latency_ps = measured->line_ps * turns;
      route.slot_latency_ps = measured->slot_ps * turns;
      route.send_overhead_ps = route.receive_overhead_ps = measured->overhead_ps;
      // The graph's links between cores are estimates of what was measured here with the cores.
      route.resources.clear();
    }
  }
  // A verbs adapter reads and writes memory itself, and a GPU's copies cost no core. Everything else goes through the
  // core of the rank, and what is reduced on arrival always does.
  const bool adapter_copies = medium == Medium::Verbs;
  if (same_node || (!adapter_copies && !on_gpu[sender])) route.resources.push_back(local_resource[sender]);
  if (same_node && on_gpu[receiver]) route.resources.push_back(local_resource[receiver]);
  route.copied_by_receiver = !on_gpu[receiver] && !adapter_copies;
  route.reduced_by_receiver = !on_gpu[receiver];
  std::sort(route.resources.begin(), route.resources.end());
  return route;
}

const Route& FabricState::route(int from, int to) {
  const std::uint64_t key = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  const auto found = routes.find(key);
  if (found != routes.end()) return found->second;
  return routes.emplace(key, make_route(from, to)).first->second;
}

std::vector<std::int64_t> FabricState::capacities(std::uint64_t footprint) const {
  std::vector<std::int64_t> all;
  all.reserve(resources.size());
  for (const Resource& resource : resources)
    all.push_back(resource.rates == nullptr ? resource.capacity : resource.rates->rates_at(footprint).write);
  return all;
}

std::uint64_t FabricState::work_bytes(int rank, bool message, bool reduced, std::uint64_t bytes,
                                      std::uint64_t footprint) const {
  const int id = local_resource[static_cast<std::size_t>(rank)];
  const HostCalibration* const measured = resources[static_cast<std::size_t>(id)].rates;
  if (measured == nullptr || bytes == 0) return bytes;
  const CoreRates& rates = measured->rates_at(footprint);
  __extension__ using Wide = unsigned __int128;
  const auto rate = static_cast<std::uint64_t>(reduced ? rates.reduce : message ? rates.read : rates.copy);
  const Wide work = static_cast<Wide>(bytes) * static_cast<std::uint64_t>(rates.write) / rate;
  return static_cast<std::uint64_t>(std::clamp(work, Wide{1}, Wide{kMaxWorkBytes}));
}

Fabric::Fabric(std::unique_ptr<FabricState> state) : state_(std::move(state)) {}
Fabric::Fabric(Fabric&&) noexcept = default;
Fabric& Fabric::operator=(Fabric&&) noexcept = default;
Fabric::~Fabric() = default;

Result<Fabric> Fabric::create(Graph graph, std::vector<int> placement, const Calibration& calibration) {
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    const int node = placement[rank];
    if (node < 0 || node >= static_cast<int>(graph.nodes.size()))
      return Status(Code::InvalidArgument,
                    fmt::format("rank {} is placed on node {}, but the graph \"{}\" has nodes 0 to {}", rank, node,
                                graph.name, static_cast<int>(graph.nodes.size()) - 1));
  }
  auto state = std::make_unique<FabricState>();
  state->calibration = calibration.with_core_of_fewest();
  CoreSharing sharing = share_cores(graph, placement);
  state->resources = list_resources(graph, placement, sharing, state->calibration);
  for (std::vector<int>& by_link : state->link_resource) by_link.assign(graph.links.size(), -1);
  state->local_resource.assign(placement.size(), -1);
  for (std::size_t id = 0; id < state->resources.size(); ++id) {
    const Resource& resource = state->resources[id];
    if (resource.link >= 0)
      state->link_resource[resource.forward ? 1 : 0][static_cast<std::size_t>(resource.link)] = static_cast<int>(id);
    else
      state->local_resource[static_cast<std::size_t>(resource.rank)] = static_cast<int>(id);
  }
  for (std::size_t rank = 0; rank < placement.size(); ++rank)
    state->local_resource[rank] = state->local_resource[static_cast<std::size_t>(sharing.first[rank])];
  const std::optional<NetworkCalibration>& network = state->calibration.network;
  if (network && network->hosts.size() == static_cast<std::size_t>(graph.hosts()))
    state->ways = add_host_ways(*network, state->resources);
  for (const int node : placement)
    state->on_gpu.push_back(graph.nodes[static_cast<std::size_t>(node)].kind == NodeKind::Gpu);
  const bool any_gpu = std::find(state->on_gpu.begin(), state->on_gpu.end(), true) != state->on_gpu.end();
  state->start_ps = any_gpu ? kGpuStartPs : call_ps(state->calibration, sharing.ranks_per_core);
  state->ranks_per_core = std::move(sharing.ranks_per_core);
  state->graph = std::move(graph);
  state->placement = std::move(placement);
  return Fabric(std::move(state));
}

int Fabric::ranks() const { return static_cast<int>(state_->placement.size()); }
const Graph& Fabric::graph() const { return state_->graph; }
const std::vector<int>& Fabric::placement() const { return state_->placement; }
bool Fabric::on_gpus() const {
  return std::find(state_->on_gpu.begin(), state_->on_gpu.end(), false) == state_->on_gpu.end();
}

}  // namespace weft::algorithms
