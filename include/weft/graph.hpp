// topology::Graph: a machine or a cluster as typed nodes and links, and the best paths between its devices.
//
// A Graph is a value: copied, compared, written to JSON and read back. What a source does not say stays unknown (an
// empty optional), nothing is invented.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/group.hpp"
#include "weft/status.hpp"

namespace weft::topology {

enum class NodeKind : std::uint8_t {
  Machine,    // one host
  Package,    // a CPU socket
  Numa,       // a NUMA node: memory and the cores near it
  CoreGroup,  // cores that share a last-level cache
  PciBridge,  // host bridge or root port
  PciSwitch,  // a PCIe switch
  Gpu,
  Nic,            // an RDMA or Ethernet adapter
  NvSwitch,       // the NVSwitch fabric of a host
  NetworkSwitch,  // a switch of the network between hosts
  Storage,        // an NVMe drive, or an adapter for drives or for a storage network
};

enum class LinkKind : std::uint8_t {
  Internal,   // package - NUMA - core group: memory bus and on-die fabric
  CpuSocket,  // UPI, xGMI between packages
  Pci,
  NvLink,
  Xgmi,
  C2c,
  Network,
};

std::string_view to_string(NodeKind kind);
std::string_view to_string(LinkKind kind);

// A PCI link as the device reports it.
struct PciLink {
  std::optional<double> gts;  // giga-transfers per second and lane, now
  std::optional<int> width;   // lanes, now
  std::optional<double> max_gts;
  std::optional<int> max_width;

  bool operator==(const PciLink&) const = default;
};

struct Node {
  int id = 0;  // index in Graph::nodes
  NodeKind kind = NodeKind::Machine;
  std::string name;  // "gpu3", "mlx5_0", "package1": unique within its machine
  int parent = -1;   // containment: machine < package < numa < core group, bridges, devices; -1: none
  int host = 0;      // which machine it belongs to; network switches between hosts: -1
  std::optional<int> os_index;
  std::string bus_id;              // "0000:c1:00.0", lower case with domain; empty if unknown or not PCI
  std::string device;              // "10de:2330" vendor:device
  std::string model;               // "NVIDIA H100 80GB HBM3", CPU model name
  std::vector<std::string> names;  // further names: OS devices (mlx5_0, eth0, nvml0)
  std::string cpus;                // list form "0-15,128-143"
  std::optional<int> cores;        // physical cores of a machine, package, NUMA node or core group
  std::optional<std::uint64_t> memory_bytes;
  PciLink pci;
  bool fabric = false;                // Nic: verbs, EFA, Slingshot, Omni-Path can drive it
  std::optional<double> network_gbs;  // Nic: the rate of its ports into the network, GB/s each way
  std::optional<bool> active;         // Nic: whether a port is up
  // Copy between two ranks placed on this same node (GB/s per direction, us): cache or device memory. Unknown for
  // others.
  std::optional<double> loopback_gbs;
  std::optional<double> loopback_us;

  bool operator==(const Node&) const = default;
};

struct Link {
  int a = 0;  // node ids, a != b; a link is two-way
  int b = 0;
  LinkKind kind = LinkKind::Internal;
  double bandwidth_gbs = 0;  // nominal, each direction
  double latency_us = 0;
  int count = 1;       // lanes of NVLink/XGMI that bandwidth_gbs already sums up; of XGMI 0: not told
  std::string source;  // where the numbers come from: "sysfs", "model", "spec", "assumed"

  // Of one lane; of all where their number was not told.
  double lane_gbs() const { return bandwidth_gbs / (count > 1 ? count : 1); }

  bool operator==(const Link&) const = default;
};

// How near two devices are, in nvidia-smi's words. Order is from near to far.
enum class PathClass : std::uint8_t {
  Loc,      // the same node
  Nvl,      // NVLink, also through NVSwitch; XGMI and C2C count here too
  Pix,      // at most one PCIe switch
  Pxb,      // several PCIe switches, no host bridge
  Phb,      // through a host bridge of one NUMA node
  Node,     // between host bridges of one NUMA node
  Sys,      // between packages or NUMA nodes
  Unknown,  // on one host, but the source does not say how near
  Net,      // between hosts
  None,     // no path
};
std::string_view to_string(PathClass path_class);

// How near two nodes of one host are, as a source states it that does not show the bridges between them (nvidia-smi):
// Pix to Unknown. It is the class of their path, unless that path is Nvl; bandwidth and latency remain those of the
// links.
struct StatedClass {
  int a = 0;  // node ids, a < b
  int b = 0;
  PathClass path_class = PathClass::Unknown;

  bool operator==(const StatedClass&) const = default;
};

struct Hop {
  int link = 0;         // index in Graph::links
  bool forward = true;  // from Link::a to Link::b

  bool operator==(const Hop&) const = default;
};

struct Path {
  int from = 0;
  int to = 0;
  PathClass path_class = PathClass::None;
  double bandwidth_gbs = 0;  // of the narrowest link
  double latency_us = 0;     // sum
  int binding_link = -1;     // the narrowest link; -1 for Loc and None
  std::vector<Hop> hops;

  bool operator==(const Path&) const = default;
};

struct Graph {
  std::string name;  // "dgx-h100", or the host name of a live machine
  std::vector<Node> nodes;
  std::vector<Link> links;
  std::vector<StatedClass> stated;  // at most one for a pair

  bool operator==(const Graph&) const = default;

  // All invariants: ids are indices, parents exist and are acyclic, links join existing nodes and have bandwidth > 0,
  // names are unique within a host, each host has one Machine and is connected, classes are stated once for pairs of
  // one host. The message names the first that fails.
  Status check() const;

  int hosts() const;                                     // number of Machine nodes
  std::vector<int> ids(NodeKind kind) const;             // node ids in order
  std::optional<int> find(std::string_view name) const;  // by name ("gpu3"; "host1/gpu3" when there are several hosts)

  // Adds and returns the id. The node's `id` field is set.
  int add(Node node);
  int connect(int a, int b, LinkKind kind, double bandwidth_gbs, double latency_us, std::string source, int count = 1);

  // Over device links (NVLink, XGMI, C2C) where they lead all the way; else, and among such, the widest, then the
  // shortest in latency, then in hops. PathClass::None with no hops if there is none.
  Path best_path(int from, int to) const;
  // best_path from `from` to each of `to`; one search.
  std::vector<Path> best_paths(int from, const std::vector<int>& to) const;
};

// A machine or cluster from one line or a name. Lines: space-separated key:value items, any order, defaults in
// brackets:
//   hosts:N [1]  packages:N [1]  numa:N (per host) [packages]  cores:N (per NUMA node) [1]
//   gpu:N (per host) [0]  nvlink:GBS (all pairs, GB/s each way)  nvswitch:GBS (per GPU, GB/s each way)
//   pcie:3|4|5|6 [5] (x16)  gpus_per_switch:N [2 where there are GPUs]  nic:N (per host) [0]  and the NIC's rate, one
//   of edr hdr ndr xdr efa100 efa200 efa400 slingshot eth:GBITS
//   fabric:flat|tree|rail|rail-only [flat: one switch] (rail: NIC k of a host at leaf k of its group; rail-only: rails
//   meet nowhere)  levels:1|2|3 [2]  leaf_hosts:N [32 ports]  pod_hosts:N (3 levels) [32 leaves]
//   oversubscription:R or R,R (of the highest level; of leaves and pods) [1]
// Names: dgx-h100, dgx-a100, p5.48xlarge, pcie-8gpu, cpu-2socket; items after a name override it ("dgx-h100 hosts:4").
// An unknown word is InvalidArgument and names it.
Result<Graph> model(std::string_view line_or_name);
std::vector<std::string_view> model_names();

// This machine. Unreadable parts stay unknown; fails only if the machine cannot be read at all.
struct ProbeOptions {
  std::string root = "/";  // a recorded tree is read like the live one
};
Result<Graph> probe(const ProbeOptions& options = {});

// JSON both ways (schema in docs/topology.md), and hwloc XML of generations 1 to 3.
std::string to_json(const Graph& graph);
Result<Graph> from_json(std::string_view json);
Result<Graph> from_hwloc_xml(std::string_view path);
// Recognises the kind of file itself: Weft's JSON, hwloc XML, NCCL or RCCL topology XML, the text of `nvidia-smi topo
// -m` and of `rocm-smi --showtopo`, recorded trees in a folder or an archive. What goes wrong is told with file, line
// where there is one, and reason.
Result<Graph> load(std::string_view path);

// Joins machines into a cluster: hosts keep their order, every NIC that can carry the network is joined to one switch.
// Used by rank 0 at create; equal input gives equal output.
Result<Graph> merge(const std::vector<Graph>& hosts);

// Where ranks run: node ids by rank. GPUs in order where a host has them, else core groups (several ranks may share
// one), `ranks_per_host` ranks on each host in turn (0: spread evenly). InvalidArgument when there are more ranks than
// GPUs.
Result<std::vector<int>> place(const Graph& graph, int ranks, int ranks_per_host = 0);

// Rank orders on the graph: rings that maximise the bottleneck between neighbours, double trees along them, hosts.
Group make_group(const Graph& graph, const std::vector<int>& placement);

// Short text of the structure (FNV-1a of kinds, links and rates, not of names): equal for like machines.
std::string fingerprint(const Graph& graph);

}  // namespace weft::topology
