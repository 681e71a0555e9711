// Which GPUs the process that looks sees: asked by the audit and by advice, which must not judge differently.
#pragma once

#include <vector>

#include "topology/facts/facts.hpp"

namespace weft::topology {

// Of these GPUs of one host those that CUDA_VISIBLE_DEVICES (or ROCR_, HIP_) leaves, by number; all where it is not set
// or names other things.
std::vector<int> visible_gpus(const HostFacts& facts, const std::vector<int>& gpus);

}  // namespace weft::topology
