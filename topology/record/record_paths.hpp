// What libhwloc and the phases of a probe read. (Readers of facts tell themselves what they read.)
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace weft::topology {

struct RecordPath {
  std::string_view pattern;      // "*" stands for any part of one name
  std::size_t most = 16 * 1024;  // bytes of a file
};
std::span<const RecordPath> record_paths();

}  // namespace weft::topology
