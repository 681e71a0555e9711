// shm-small: containers get 64 MiB of /dev/shm by default. Weft itself uses memfd, but NCCL, UCX and data loaders keep
// buffers there.
#include <fmt/format.h>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

constexpr std::uint64_t kEnough = std::uint64_t{1} << 30;

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const std::optional<std::uint64_t>& bytes = input.facts(host).container.shm_bytes;
    if (bytes && *bytes < kEnough) report.add(self, "/dev/shm", fmt::format("holds {} MiB", *bytes >> 20));
  }
}

}  // namespace

extern const Rule shm_small;
const Rule shm_small = {"shm-small", Severity::Warning, "/dev/shm is small",
                        "docker --shm-size=8g or --ipc=host; in Kubernetes an emptyDir of medium Memory on /dev/shm",
                        check};

}  // namespace weft::topology::audit
