// The kernels for any processor: what the architecture's baseline (SSE2, NEON) gives the compiler's vectoriser.
#include "comm/kernels/quantise_loops.hpp"
#include "comm/kernels/table.hpp"

namespace weft::comm {

constinit const KernelTable kPortableKernels = make_table();
constinit const QuantiseTable kPortableQuantise = make_quantise_table();

}  // namespace weft::comm
