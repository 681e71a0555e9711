// The kernels for any processor: what the architecture's baseline (SSE2, NEON) gives the compiler's vectoriser.
#include "comm/kernels/table.hpp"

namespace weft::comm {

constinit const KernelTable kPortableKernels = make_table();

}  // namespace weft::comm
