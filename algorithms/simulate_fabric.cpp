// From a graph to resources: overheads, capacities and routes, with where each number comes from.
#include "algorithms/simulate_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/heap_bytes.hpp"

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

std::int64_t bytes_per_us(double gbs) { return std::max<std::int64_t>(1, std::llround(gbs * 1000.0)); }
std::int64_t picoseconds(double us) { return std::llround(us * 1e6); }

std::string node_name(const Graph& graph, int id) {
  const topology::Node& node = graph.nodes[static_cast<std::size_t>(id)];
  if (node.kind == NodeKind::Machine || graph.hosts() < 2 || node.host < 0) return node.name;
  for (const topology::Node& other : graph.nodes)
    if (other.kind == NodeKind::Machine && other.host == node.host) return other.name + "/" + node.name;
  return fmt::format("host{}/{}", node.host, node.name);
}

std::vector<Resource> list_resources(const Graph& graph, const std::vector<int>& placement) {
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
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    const topology::Node& node = graph.nodes[static_cast<std::size_t>(placement[rank])];
    const bool gpu = node.kind == NodeKind::Gpu;
    const double gbs = node.loopback_gbs.value_or(gpu ? kGpuCopyGbs : kCoreCopyGbs);
    resources.push_back({fmt::format("{} of rank {}", gpu ? "memory" : "core", rank), bytes_per_us(gbs), -1, true,
                         static_cast<int>(rank)});
  }
  std::sort(resources.begin(), resources.end(), [](const Resource& x, const Resource& y) {
    return std::tie(x.name, x.capacity) < std::tie(y.name, y.capacity);
  });
  return resources;
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
  const Medium medium = medium_of(graph, path, on_gpu[sender] && on_gpu[receiver]);
  for (const topology::Hop& hop : path.hops)
    route.resources.push_back(link_resource[hop.forward ? 1 : 0][static_cast<std::size_t>(hop.link)]);
  // A verbs adapter reads and writes memory itself, and a GPU's copies cost no core. Everything else goes through the
  // core of the rank, and what is reduced on arrival always does.
  const bool adapter_copies = medium == Medium::Verbs;
  const bool sender_copies = same_node || (!adapter_copies && !on_gpu[sender]);
  const bool receiver_copies = same_node || (!adapter_copies && !on_gpu[receiver]);
  if (sender_copies) route.resources.push_back(local_resource[sender]);
  route.reducing_resources = route.resources;
  if (receiver_copies) route.resources.push_back(local_resource[receiver]);
  if (receiver_copies || !on_gpu[receiver]) route.reducing_resources.push_back(local_resource[receiver]);
  std::sort(route.resources.begin(), route.resources.end());
  std::sort(route.reducing_resources.begin(), route.reducing_resources.end());

  route.connected = true;
  route.capacity = resources[static_cast<std::size_t>(route.resources.front())].capacity;
  for (const int id : route.resources)
    route.capacity = std::min(route.capacity, resources[static_cast<std::size_t>(id)].capacity);
  const Overhead overhead = overhead_of(medium);
  route.latency_ps = picoseconds(path.latency_us);
  route.send_overhead_ps = overhead.send_ps;
  route.receive_overhead_ps = overhead.receive_ps;
  return route;
}

const Route& FabricState::route(int from, int to) {
  const std::uint64_t key = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  const auto found = routes.find(key);
  if (found != routes.end()) return found->second;
  return routes.emplace(key, make_route(from, to)).first->second;
}

Fabric::Fabric(std::unique_ptr<FabricState> state) : state_(std::move(state)) {}
Fabric::Fabric(Fabric&&) noexcept = default;
Fabric& Fabric::operator=(Fabric&&) noexcept = default;
Fabric::~Fabric() = default;

Result<Fabric> Fabric::create(Graph graph, std::vector<int> placement) {
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    const int node = placement[rank];
    if (node < 0 || node >= static_cast<int>(graph.nodes.size()))
      return Status(Code::InvalidArgument,
                    fmt::format("rank {} is placed on node {}, but the graph \"{}\" has nodes 0 to {}", rank, node,
                                graph.name, static_cast<int>(graph.nodes.size()) - 1));
  }
  auto state = std::make_unique<FabricState>();
  state->resources = list_resources(graph, placement);
  for (std::vector<int>& by_link : state->link_resource) by_link.assign(graph.links.size(), -1);
  state->local_resource.assign(placement.size(), -1);
  for (std::size_t id = 0; id < state->resources.size(); ++id) {
    const Resource& resource = state->resources[id];
    if (resource.link >= 0)
      state->link_resource[resource.forward ? 1 : 0][static_cast<std::size_t>(resource.link)] = static_cast<int>(id);
    else
      state->local_resource[static_cast<std::size_t>(resource.rank)] = static_cast<int>(id);
  }
  for (const int node : placement)
    state->on_gpu.push_back(graph.nodes[static_cast<std::size_t>(node)].kind == NodeKind::Gpu);
  const bool any_gpu = std::find(state->on_gpu.begin(), state->on_gpu.end(), true) != state->on_gpu.end();
  state->start_ps = any_gpu ? kGpuStartPs : 0;
  state->graph = std::move(graph);
  state->placement = std::move(placement);
  return Fabric(std::move(state));
}

int Fabric::ranks() const { return static_cast<int>(state_->placement.size()); }
const Graph& Fabric::graph() const { return state_->graph; }
const std::vector<int>& Fabric::placement() const { return state_->placement; }

std::uint64_t Fabric::memory_bytes() const {
  const Graph& graph = state_->graph;
  std::uint64_t bytes = sizeof(FabricState) + graph.nodes.capacity() * sizeof(topology::Node) +
                        graph.links.capacity() * sizeof(topology::Link) +
                        state_->resources.capacity() * sizeof(Resource);
  for (const topology::Node& node : graph.nodes) {
    for (const std::string* text : {&node.name, &node.bus_id, &node.device, &node.model, &node.cpus})
      bytes += base::heap_bytes(*text);
    for (const std::string& name : node.names) bytes += sizeof(std::string) + base::heap_bytes(name);
  }
  for (const topology::Link& link : graph.links) bytes += base::heap_bytes(link.source);
  for (const Resource& resource : state_->resources) bytes += base::heap_bytes(resource.name);
  for (const auto& [pair, route] : state_->routes) {
    bytes += sizeof(Route) + 4 * sizeof(std::uint64_t);
    bytes += (route.resources.capacity() + route.reducing_resources.capacity()) * sizeof(int);
  }
  return bytes;
}
bool Fabric::on_gpus() const {
  return std::find(state_->on_gpu.begin(), state_->on_gpu.end(), false) == state_->on_gpu.end();
}

}  // namespace weft::algorithms
