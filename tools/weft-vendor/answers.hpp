// The questions that weft-vendor can ask, one library each. Each writes one JSON object, which topology/vendor reads.
#pragma once

#include <string>

#include "base/json_writer.hpp"

namespace weft::vendor {

// `path` names the library. What it does not tell is left out; one that cannot be loaded or refuses to start is
// {"error": "..."}.
void ask_nvml(const std::string& path, base::JsonWriter& json);
void ask_verbs(const std::string& path, base::JsonWriter& json);

}  // namespace weft::vendor
