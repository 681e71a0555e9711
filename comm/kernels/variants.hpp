// The instruction sets that the kernels are compiled for. kernels.cpp picks one; the tests compare them all.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "comm/kernels/kernels.hpp"

namespace weft::comm {

// [dtype][op][final]; null where the pair is not valid().
using KernelTable = std::array<std::array<std::array<ReduceKernel, 2>, kReduceOps>, kDataTypes>;

struct KernelVariant {
  std::string_view name;
  const KernelTable* table;
};

extern const KernelTable kPortableKernels;
#if defined(__x86_64__)
extern const KernelTable kAvx2Kernels;
#endif

// Those that this processor can run, slowest first; the first is the portable one.
std::span<const KernelVariant> kernel_variants() noexcept;

}  // namespace weft::comm
