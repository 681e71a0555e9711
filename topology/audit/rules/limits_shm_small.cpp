// limits.shm_small: containers get 64 MiB of /dev/shm by default. Weft itself uses memfd, but NCCL, UCX and data
// loaders keep buffers there.
//
// An error where NCCL cannot start: about 10 MB for each of the two channels of a GPU (NVIDIA/nccl#290).
#include <fmt/format.h>

#include <optional>

#include "topology/audit/audit.hpp"
#include "topology/audit/host_view.hpp"

namespace weft::topology::audit {
namespace {

constexpr std::uint64_t kPerGpu = 2 * std::uint64_t{10'000'000};

std::uint64_t memory_bytes(const Input& input, int host) {
  std::uint64_t bytes = 0;
  for (int numa : input.locality.numas(host)) bytes += input.locality.node(numa).memory_bytes.value_or(0);
  return bytes;
}

void check(const Rule& self, const Input& input, Report& report) {
  for (int host = 0; host < input.hosts(); ++host) {
    const std::optional<std::uint64_t>& bytes = input.facts(host).container.shm_bytes;
    if (!bytes || *bytes >= input.site.thresholds.shm_bytes) continue;
    const std::uint64_t memory = memory_bytes(input, host);
    if (memory > 0 && *bytes >= memory / 3) continue;
    const std::size_t gpus = accelerators(input, host).size();
    const bool too_small = gpus > 1 && *bytes < gpus * kPerGpu;
    report.add(self, too_small ? Severity::Error : Severity::Warning, input.on(host, "/dev/shm"),
               fmt::format(
                   "holds {} MiB{}", *bytes >> 20,
                   gpus > 1 ? fmt::format("; NCCL needs about {} MiB for {} GPUs", (gpus * kPerGpu) >> 20, gpus) : ""));
  }
}

}  // namespace

extern const Rule limits_shm_small;
const Rule limits_shm_small = {
    .id = "limits.shm_small",
    .severity = Severity::Warning,
    .summary = "/dev/shm is small",
    .silent = "/dev/shm of a third of the memory or more, as the kernel makes it; sizes that are not known",
    .fix =
        "docker --shm-size=8g or --ipc=host; in Kubernetes an emptyDir of medium Memory on /dev/shm; outside of "
        "containers mount -o remount,size=8g /dev/shm",
    .reference = "NVIDIA/nccl#290",
    .check = check,
};

}  // namespace weft::topology::audit
