// GPUDirect RDMA: whether NICs can read and write the memory of NVIDIA GPUs on a host.
#pragma once

#include <string_view>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {

enum class GpuDirect : std::uint8_t {
  Unknown,       // the source tells no modules, or there is no NVIDIA driver
  Possible,      // by nvidia_peermem or by DMA-BUF
  Unregistered,  // nvidia_peermem is loaded, but no client of ib_core
  Perhaps,       // not loaded; whether the driver can export DMA-BUF is not known
  Missing,       // neither way
};
GpuDirect gpu_direct(const HostFacts& facts);

// Kernel 5.12 and the open kernel modules (NVIDIA's documentation of GPUDirect RDMA).
bool kernel_has_dma_buf(const KernelFacts& kernel);
bool has_module(const KernelFacts& kernel, std::string_view name);

// Whether a host has both an NVIDIA GPU and a NIC that needs nvidia_peermem or DMA-BUF: not EFA and Slingshot, whose
// drivers have ways of their own.
bool wants_gpu_direct(const Input& input, int host);

}  // namespace weft::topology::audit
