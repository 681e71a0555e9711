// The instruction sets that the kernels are compiled for. kernels.cpp picks one; the tests compare them all.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "comm/kernels/kernels.hpp"
#include "comm/kernels/quantise.hpp"

namespace weft::comm {

// [dtype][op][final]; null where the pair is not valid().
using KernelTable = std::array<std::array<std::array<ReduceKernel, 2>, kReduceOps>, kDataTypes>;

// [dtype][quantisation]; null pointers where a type cannot be quantised.
using QuantiseRow = std::array<QuantiseKernels, kQuantisations>;
using QuantiseTable = std::array<QuantiseRow, kDataTypes>;

struct KernelVariant {
  std::string_view name;
  const KernelTable* table;
  const QuantiseTable* quantise;
};

extern const KernelTable kPortableKernels;
extern const QuantiseTable kPortableQuantise;
#if defined(__x86_64__)
extern const KernelTable kAvx2Kernels;
extern const QuantiseTable kAvx2Quantise;
#endif

// Those that this processor can run, slowest first; the first is the portable one.
std::span<const KernelVariant> kernel_variants() noexcept;

}  // namespace weft::comm
