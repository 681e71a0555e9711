// The facts of a host as JSON, and back. Unknown members are left out.
#pragma once

#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "topology/facts/facts.hpp"

namespace weft::topology {

inline constexpr std::size_t kMaxFactsEntries = 65'536;  // of one list: interfaces, GIDs
inline constexpr std::size_t kMaxFactsDevices = 8192;    // of one host

// As one value: an object.
void write_facts(base::JsonWriter& json, const HostFacts& facts);
Status read_facts(const base::JsonValue& value, HostFacts& facts);

}  // namespace weft::topology
