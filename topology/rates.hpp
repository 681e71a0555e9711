// Nominal rates and latencies: every number of Weft's models that no machine told us, with its source. GB/s are per
// direction.
#pragma once

#include <optional>
#include <string_view>

namespace weft::topology::rates {

struct Rate {
  double bandwidth_gbs;
  double latency_us;
};

// PCI Express base specification: giga-transfers per lane by generation; line coding 8b/10b up to generation 2,
// 128b/130b from 3 to 5, 242/256 (flits) in 6.
inline constexpr double kPciGts[] = {2.5, 5, 8, 16, 32, 64};
inline constexpr int kPciGenerations = 6;
// GB/s of one lane at that many giga-transfers; the next lower generation for a speed in between, unknown below the
// first.
std::optional<double> pci_lane_gbs(double gts);
std::optional<double> pci_gbs(double gts, int width);
// The speed whose `width` lanes give that bandwidth, for sources that state GB/s only.
std::optional<double> pci_gts_of(double gbs, int width);
// One store-and-forward hop of a PCIe switch is 100 to 150 ns (data sheets of Broadcom PEX88000 and PEX89000); with the
// link's own flight time and packetising 0.25 us per link is usual.
inline constexpr double kPciLatencyUs = 0.25;
inline constexpr double kPciPortLatencyUs = 0.05;  // from a port to the rest of its chip; assumed

// Host bridge to the CPU's mesh: never the narrow place, so any number above x16 of the newest generation. Assumed.
inline constexpr Rate kHostBridge = {250, 0.1};
// A NUMA node and a core group: what one core complex reaches to its memory controllers. Assumed: 8 channels of
// DDR4-3200 are 205 GB/s, 8 of DDR5-4800 are 307 GB/s; one complex gets a part of that.
inline constexpr Rate kCoreGroupToNuma = {100, 0.08};
inline constexpr Rate kNumaToPackage = {200, 0.04};
// Copy between two ranks on one core group, through its shared cache. Assumed, from two pinned threads on a small
// virtual machine: 0.1 us for a cache line there and noticed, about 10 GB/s for one copying core.
inline constexpr Rate kCoreGroupLoopback = {10, 0.1};

// Between sockets, each way; effective figures as NCCL's model uses them (its sources, graph/topo.h): Broadwell 6,
// Skylake 10, Sapphire Rapids 22, Emerald Rapids 40, AMD 16, Power9 32, Arm 6, Zhaoxin 6. Latency: assumed, a remote
// cache line costs 0.1 to 0.15 us more than a local one.
inline constexpr double kSocketLatencyUs = 0.12;
inline constexpr double kSocketUnknownGbs = 10;
// By what a CPU calls itself ("Intel(R) Xeon(R) Platinum 8480C", "AMD EPYC 7742", "POWER9"); unknown names get the
// default.
double socket_gbs(std::string_view cpu_model);
// By vendor and model number, where a source has no name: "GenuineIntel", 143.
double socket_gbs(std::string_view vendor, int model);

// NVLink, each way per link: 1 20, 2 to 4 25, 5 50 (NVIDIA's data sheets of P100, V100, A100, H100, B200). A hop GPU to
// GPU about 1 us, half of it to the switch. Assumed.
inline constexpr double kNvLinkLatencyUs = 0.5;
// One link, by the compute capability of the GPU ("sm", 90 for 9.0); capability 8.6 has narrower links (4 make the
// 112.5 GB/s both ways of NVIDIA's GA102 data sheets). 25 is the answer where it is not known.
double nvlink_gbs(std::optional<int> sm);
// How many links make up that bandwidth: of 25 GB/s up to 18, the most of a GPU, else of 20 or 50; 1 where it is no
// multiple.
int nvlink_count(double gbs);
inline constexpr double kXgmiLatencyUs = 0.5;
// One XGMI link, each way, by the name of the instruction set ("gfx942", or its number "910"): AMD's data sheets of
// MI200 (50), MI300 (64) and MI350 (76.8). Nothing where it is not known; kXgmiUnknownGbs is assumed then.
std::optional<double> xgmi_gbs(std::string_view gcn);
inline constexpr double kXgmiUnknownGbs = 50;

// Ports of the network, GB/s: InfiniBand 4X EDR 100, HDR 200, NDR 400, XDR 800 Gbit/s; EFA devices 100, 200, 400 Gbit/s
// (AWS instance pages); Slingshot 200 Gbit/s. Latency of one NIC-to-switch link: a port-to-port switch hop is 0.1 to
// 0.3 us and an adapter about 0.6 us (InfiniBand); EFA and Ethernet are slower. Latencies are assumed.
inline constexpr double kFabricLatencyUs = 0.7;
inline constexpr double kEfaLatencyUs = 6;
inline constexpr double kEthernetLatencyUs = 10;
std::optional<Rate> network_rate(std::string_view word);
// A host whose NICs are not known, or a NIC whose rate is not: 10 Gbit/s Ethernet. Assumed.
inline constexpr Rate kAssumedEthernet = {1.25, kEthernetLatencyUs};

}  // namespace weft::topology::rates
