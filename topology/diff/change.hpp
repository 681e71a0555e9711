// Change: one thing in which two surveys differ, and the words for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_writer.hpp"

namespace weft::topology {

enum class ChangeKind : std::uint8_t { Lost, Added, Changed };
std::string_view to_string(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::Changed;
  std::string subject;  // "gpu3 (0000:c1:00.0)", as the first survey calls it, or the second if it was added
  std::string what;     // "PCIe switch", "NUMA node", "kernel.version"
  std::string before;   // empty: nothing, or not known any more
  std::string after;

  bool operator==(const Change&) const = default;
};

// Without its kind: "gpu3 (0000:c1:00.0): PCIe lanes 16 -> 8".
std::string describe(const Change& change);
// As an object; what is empty is null.
void write(base::JsonWriter& json, const Change& change);

}  // namespace weft::topology
