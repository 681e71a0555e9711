// Where a survey, the numbers of a link and a measurement come from: the words that code compares, each named once.
// They are arrays, so that they become a std::string where one is stored.
#pragma once

namespace weft::topology {

// Of surveys. Others name a dialect and are only shown.
inline constexpr char kThisMachine[] = "this machine";
inline constexpr char kHwlocXml[] = "hwloc XML";  // behind it may stand the generation
inline constexpr char kNvidiaSmi[] = "the text of nvidia-smi topo -m";
inline constexpr char kRocmSmi[] = "the text of rocm-smi --showtopo";
// Of surveys and of links.
inline constexpr char kModelSource[] = "model";
// Of links. Others name what told the numbers: "sysfs", "NVML".
inline constexpr char kSpec[] = "spec";
inline constexpr char kAssumed[] = "assumed";
inline constexpr char kMeasured[] = "measured";

// In the remark about devices of which only the bus id is told, whatever they are.
inline constexpr char kDevicesUnknown[] = "with a bus id and no class: what they are is unknown";

// What was measured.
inline constexpr char kCopy[] = "copy";          // between core groups, by one core
inline constexpr char kMemoryRead[] = "memory";  // between NUMA nodes, by all cores
inline constexpr char kGpuCopy[] = "gpu";        // between GPUs
inline constexpr char kToGpu[] = "to_gpu";       // from a NUMA node
inline constexpr char kFromGpu[] = "from_gpu";
inline constexpr char kTcp[] = "tcp";    // between hosts
inline constexpr char kRdma[] = "rdma";  // between NICs of two hosts

}  // namespace weft::topology
