// read_system(): limits of this process and sizes of this system.
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <charconv>
#include <limits>

#include "topology/audit/audit.hpp"
#include "topology/read_file.hpp"

namespace weft::topology::audit {
namespace {

constexpr int kIpcLock = 14;  // CAP_IPC_LOCK

// "CapEff:\t000001ffffffffff" of /proc/self/status.
std::optional<bool> may_lock_all() {
  const std::optional<std::string> status = read_attribute("/proc/self/status");
  constexpr std::string_view kKey = "CapEff:\t";
  const std::size_t found = status ? status->find(kKey) : std::string::npos;
  if (found == std::string::npos) return std::nullopt;
  std::uint64_t mask = 0;
  const char* first = status->data() + found + kKey.size();
  const auto [end, error] = std::from_chars(first, status->data() + status->size(), mask, 16);
  if (error != std::errc()) return std::nullopt;
  return (mask >> kIpcLock & 1) != 0;
}

}  // namespace

System read_system() {
  System system;
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
    system.memlock_bytes = limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<std::uint64_t>::max() : limit.rlim_cur;
  system.may_lock_all = may_lock_all();
  struct statvfs shm {};
  if (::statvfs("/dev/shm", &shm) == 0) system.shm_bytes = static_cast<std::uint64_t>(shm.f_blocks) * shm.f_frsize;
  return system;
}

}  // namespace weft::topology::audit
