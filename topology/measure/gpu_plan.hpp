// Which copies to, from and between the GPUs of this machine are measured, in rounds: what matters most first, until
// the time is over.
#pragma once

#include <string>
#include <vector>

#include "topology/locality.hpp"
#include "topology/sources.hpp"
#include "topology/survey.hpp"

namespace weft::topology {

// From node to node: a NUMA node's memory or a GPU.
struct GpuCopy {
  int from = 0;
  int to = 0;
};

// Copies that run at the same time, all of one kind.
struct GpuRound {
  const char* what = kGpuCopy;
  std::vector<GpuCopy> copies;
  bool at_once = false;  // all of their kind together, to see what they share
  std::string line;      // as weft-vendor reads it
};

// Of the GPUs of one vendor ("10de"), by their bus ids: each from the NUMA node nearest to it and back, from the
// farthest one and back, each to every other (256 pairs at most); then all at once: into all, out of all, and around in
// a circle.
std::vector<GpuRound> gpu_rounds(const Survey& survey, Locality& locality, std::string_view vendor);

}  // namespace weft::topology
