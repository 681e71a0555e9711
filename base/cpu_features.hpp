// What this processor can execute beyond the architecture's baseline. Asked at plan time, never on the hit path.
#pragma once

namespace weft::base {

// Whether code compiled for AVX2 and F16C may run here. False on every processor that is not x86.
bool cpu_has_avx2_and_f16c() noexcept;

}  // namespace weft::base
