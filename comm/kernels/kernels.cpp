// Picks the kernel for a type and operator among the variants that this processor can run.
#include "comm/kernels/kernels.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/copy_bytes.hpp"
#include "base/cpu_features.hpp"
#include "comm/kernels/variants.hpp"

namespace weft::comm {
namespace {

constexpr KernelVariant kVariants[] = {
    {"portable", &kPortableKernels},
#if defined(__x86_64__)
    {"avx2", &kAvx2Kernels},
#endif
};

}  // namespace

std::span<const KernelVariant> kernel_variants() noexcept {
  return std::span(kVariants).first(base::cpu_has_avx2_and_f16c() ? std::size(kVariants) : 1);
}

ReduceKernel reduce_kernel(DataType dtype, ReduceOp op, bool final) {
  if (!valid(dtype, op)) return nullptr;
  const KernelTable& table = *kernel_variants().back().table;
  return table[static_cast<std::size_t>(dtype)][static_cast<std::size_t>(op)][final ? 1 : 0];
}

void reduce_streaming(ReduceKernel kernel, std::size_t element_bytes, void* dst, const void* a, const void* b,
                      std::size_t count, int size) noexcept {
  constexpr std::size_t kBlockBytes = 8192;
  alignas(64) unsigned char block[kBlockBytes];
  const std::size_t block_count = kBlockBytes / element_bytes;
  for (std::size_t done = 0; done < count; done += block_count) {
    const std::size_t now = std::min(block_count, count - done);
    const std::size_t offset = done * element_bytes;
    kernel(block, static_cast<const unsigned char*>(a) + offset, static_cast<const unsigned char*>(b) + offset, now,
           size);
    base::copy_streaming(static_cast<unsigned char*>(dst) + offset, block, now * element_bytes);
  }
}

}  // namespace weft::comm
