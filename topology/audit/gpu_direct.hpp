// GPUDirect RDMA as rules ask for it; topology/facts/gpu_direct.hpp says whether a host can do it.
#pragma once

#include "topology/audit/audit.hpp"
#include "topology/facts/gpu_direct.hpp"

namespace weft::topology::audit {

// Whether a host has both an NVIDIA GPU and a NIC that needs nvidia_peermem or DMA-BUF: not EFA and Slingshot, whose
// drivers have ways of their own.
bool wants_gpu_direct(const Input& input, int host);

}  // namespace weft::topology::audit
