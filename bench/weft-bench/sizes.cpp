// A sweep that does not overflow.
#include "bench/weft-bench/sizes.hpp"

namespace weft::bench {

std::vector<std::uint64_t> sweep(std::uint64_t first, std::uint64_t last, int factor) {
  std::vector<std::uint64_t> sizes;
  const auto step = static_cast<std::uint64_t>(factor);
  for (auto size = first; size <= last; size *= step) {
    sizes.push_back(size);
    if (size == 0 || size > last / step) break;
  }
  return sizes;
}

}  // namespace weft::bench
