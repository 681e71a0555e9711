// The end of a process that broke its own rules.
#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace weft::base {

void assertion_failed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "weft: assertion failed: %s (%s:%d); this is a defect of Weft, please report it\n", expression,
               file, line);
  std::abort();
}

}  // namespace weft::base
