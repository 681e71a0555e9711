// The mounts of a process, as proc/self/mountinfo lists them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::topology {

struct Mount {
  std::string root;                  // which folder of its file system is mounted
  std::string point;                 // where: "/dev/shm"
  std::string type;                  // "tmpfs", "cgroup2"
  std::vector<std::string> options;  // of the file system: "size=65536k", "cpuset"
};

// Lines that make no sense are left out.
std::vector<Mount> parse_mounts(std::string_view text);

}  // namespace weft::topology
