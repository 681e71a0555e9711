// Reads the facts of a host: limits of this process and sizes of this system.
#include "topology/facts/read_facts.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>

#include <charconv>
#include <utility>

#include "topology/read_file.hpp"

namespace weft::topology {
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

void read_facts(const std::string& root, Survey& survey) {
  HostFacts facts;
  if (root == "/") {
    rlimit limit{};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
      facts.process.memlock_bytes = limit.rlim_cur == RLIM_INFINITY ? kUnlimited : limit.rlim_cur;
    facts.process.may_lock_all = may_lock_all();
    struct statvfs shm {};
    if (::statvfs("/dev/shm", &shm) == 0)
      facts.container.shm_bytes = static_cast<std::uint64_t>(shm.f_blocks) * shm.f_frsize;
  }
  survey.hosts = {std::move(facts)};
}

}  // namespace weft::topology
