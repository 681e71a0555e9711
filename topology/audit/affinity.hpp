// Where the process that looks may run, beside the GPUs that it sees. Under a launcher it stands for its ranks.
#pragma once

#include <string>
#include <vector>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {

// The accelerators that CUDA_VISIBLE_DEVICES (or ROCR_, HIP_) leaves, as topology/gpu_order.hpp counts them; all where
// it is not set or names other things.
std::vector<int> visible_gpus(const Input& input, int host);

struct Binding {
  int gpu = 0;
  std::string local;   // CPUs near it
  std::string common;  // of these, those that the process may use
};
// Of each visible GPU whose CPUs are known and are not all of the host's; none where the process's CPUs are not known.
std::vector<Binding> bindings_of(const Input& input, int host);

// Whether a launcher started this process as one of several on the host: LOCAL_RANK and the like are set.
bool is_local_rank(const HostFacts& facts);

}  // namespace weft::topology::audit
