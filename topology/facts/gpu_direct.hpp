// GPUDirect RDMA: whether NICs can read and write the memory of NVIDIA GPUs on a host.
#pragma once

#include <cstdint>
#include <string_view>

#include "topology/facts/facts.hpp"

namespace weft::topology {

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

}  // namespace weft::topology
