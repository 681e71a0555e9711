// Asks the compiler's run-time support, which also knows whether the kernel saves the wide registers.
#include "base/cpu_features.hpp"

namespace weft::base {

bool cpu_has_avx2_and_f16c() noexcept {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
#else
  return false;
#endif
}

}  // namespace weft::base
