// The questions that weft-vendor can ask, one library each, and what it can measure with them. Each writes JSON, an
// object a line, which topology/vendor and topology/measure read.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json_writer.hpp"

namespace weft::vendor {

// `path` names the library. What it does not tell is left out; one that cannot be loaded or refuses to start is
// {"error": "..."}.
void ask_nvml(const std::string& path, base::JsonWriter& json);
void ask_verbs(const std::string& path, base::JsonWriter& json);

// With the end of the line. False if nobody reads any more.
using WriteLine = std::function<bool(std::string_view line)>;

// Does what standard input asks for, see gpu_copies.cpp, for that long at most. `kind`: "cuda" or "hip".
void copy_with_gpus(std::string_view kind, const std::string& path, int milliseconds, const WriteLine& write);

// One end of a stream of RDMA writes, led by standard input, see rdma.cpp.
struct RdmaPort {
  std::string device;  // "mlx5_0"
  int port = 1;
  int gid = 0;   // index in the port's table
  int cpu = -1;  // near the device; -1: any
};
void write_by_rdma(const std::string& path, const RdmaPort& port, const WriteLine& write);

}  // namespace weft::vendor
