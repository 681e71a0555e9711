// UcxUse: that UCX is in use in this process, as long as one lives.
//
// UCX has one thread in a process, for what comes by itself, such as connections over TCP. A forked child has no such
// thread, and UCX there believes that it has: whoever sends to the child would wait for ever. So a child may not use
// UCX if it was in use when the child was forked. If it was not, UCX starts its thread anew.
#pragma once

#include <memory>

#include "weft/status.hpp"

namespace weft::transports {

class UcxUse final {
 public:
  static Result<std::unique_ptr<UcxUse>> begin();  // Unsupported in such a child
  UcxUse(const UcxUse&) = delete;
  UcxUse& operator=(const UcxUse&) = delete;
  ~UcxUse();

 private:
  UcxUse() = default;
};

}  // namespace weft::transports
