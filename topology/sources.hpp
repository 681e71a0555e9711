// Where a survey, the numbers of a link and a measurement come from: the words that code compares, each named once.
// They are arrays, so that they become a std::string where one is stored.
#pragma once

namespace weft::topology {

// Of surveys. Others name a dialect and are only shown.
inline constexpr char kThisMachine[] = "this machine";
// Of surveys and of links.
inline constexpr char kModelSource[] = "model";
// Of links. Others name what told the numbers: "sysfs", "NVML".
inline constexpr char kSpec[] = "spec";
inline constexpr char kAssumed[] = "assumed";
inline constexpr char kMeasured[] = "measured";

// What was measured.
inline constexpr char kCopy[] = "copy";          // between core groups, by one core
inline constexpr char kMemoryRead[] = "memory";  // between NUMA nodes, by all cores
inline constexpr char kGpuCopy[] = "gpu";        // between GPUs
inline constexpr char kToGpu[] = "to_gpu";       // from a NUMA node
inline constexpr char kFromGpu[] = "from_gpu";
inline constexpr char kTcp[] = "tcp";    // between hosts
inline constexpr char kRdma[] = "rdma";  // between NICs of two hosts

}  // namespace weft::topology
