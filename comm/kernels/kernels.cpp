// Picks the kernel for a type and operator among the variants that this processor can run.
#include "comm/kernels/kernels.hpp"

#include "base/cpu_features.hpp"
#include "comm/kernels/variants.hpp"

namespace weft::comm {
namespace {

constexpr KernelVariant kVariants[] = {
    {"portable", &kPortableKernels, &kPortableQuantise},
#if defined(__x86_64__)
    {"avx2", &kAvx2Kernels, &kAvx2Quantise},
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

QuantiseKernels quantise_kernels(DataType dtype, Quantisation quantisation) {
  const QuantiseTable& table = *kernel_variants().back().quantise;
  return table[static_cast<std::size_t>(dtype)][static_cast<std::size_t>(quantisation)];
}

}  // namespace weft::comm
