// Copies to, from and between GPUs, by CUDA's driver or HIP in a process of their own (weft-vendor).
#pragma once

#include <string>
#include <vector>

#include "topology/measure/gpu_plan.hpp"
#include "topology/survey.hpp"

namespace weft::topology {

struct GpuMeasurer {
  std::string kind;     // "cuda", "hip"
  std::string name;     // as people call it
  std::string library;  // file; empty: there is none
  std::string program;  // weft-vendor; empty: it is not installed
  double seconds = 0;   // after which no round is started any more
};

// Adds measurements, and remarks on what was not measured and why. A library that hangs is given up
// some seconds after the time; what it had told until then is kept.
void measure_gpus(const GpuMeasurer& measurer, const std::vector<GpuRound>& rounds, Survey& survey);

// What weft-vendor says of one round.
struct GpuAnswer {
  int round = 0;
  struct Copy {
    double gbs = 0;
    std::string error;  // empty: it was measured
  };
  std::vector<Copy> copies;
};
Result<GpuAnswer> read_gpu_answer(std::string_view json);

}  // namespace weft::topology
