// measure(): what the parts of this machine reach, beside what they should. Copies between core groups (caches) by one
// core, memory read by all cores of a NUMA node, from their own and from each other's; copies to, from and between
// GPUs; pair by pair, and all at once, which shows what they share.
//
// Threads are pinned. A round is a median of several passes; a figure is the best of three rounds, or one round where
// all run at once. All of it ends in time: what there was no time for is a remark.
#pragma once

#include <vector>

#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology {

struct MeasureOptions {
  double seconds = 8;                               // for CPUs and memory
  double gpu_seconds = 20;                          // for GPUs of one vendor
  std::size_t memory_bytes = std::size_t{1} << 30;  // at most, for all threads of a NUMA node together
};

// Adds measurements of one host, which is this machine: kCopy between core groups, kMemoryRead between NUMA nodes,
// kToGpu and kFromGpu between NUMA nodes and GPUs, kGpuCopy from GPU to GPU.
void measure(Survey& survey, const MeasureOptions& options = {});

// A measurement beside what the graph says of its path.
struct Comparison {
  const Measurement* measured = nullptr;
  double nominal_gbs = 0;  // of the path; a core group's own copy rate; 0 where the graph says nothing
  int binding_link = -1;   // of the path
  bool assumed = false;    // whether the nominal rate is
};
std::vector<Comparison> compare(const Survey& survey, Locality& locality);

// The graph with what was measured in place of what was nominal: copies within core groups, and links. A link carries
// what was seen through it; it is narrowed only if it is the one that binds, and never by copies of a single core.
Graph corrected(const Survey& survey);

}  // namespace weft::topology
