// The count of those that live, and of which process they are.
#include "transports/ucx_use.hpp"

#include <atomic>
#include <cstdint>

#include "base/fork_guard.hpp"

namespace weft::transports {

namespace {

// Global because UCX's thread is. One word, so that a fork between two steps of another thread leaves nothing locked.
struct Users {
  std::uint32_t process;  // ForkMark::process() of the one that began last
  std::uint32_t count;
};
std::atomic<Users> users = Users{0, 0};
static_assert(std::atomic<Users>::is_always_lock_free);

}  // namespace

Result<std::unique_ptr<UcxUse>> UcxUse::begin() {
  const std::uint32_t process = base::ForkMark().process();
  Users now = users.load();
  do {
    if (now.process != process && now.count > 0) {
      return Status(
          Code::Unsupported,
          "this process was forked from one that was using UCX, whose thread does not live on here. Use shared "
          "memory only (WEFT_TRANSPORTS=shm), fork before the parent makes a communicator, or exec after the "
          "fork");
    }
  } while (!users.compare_exchange_weak(now, Users{process, now.count + 1}));
  return std::unique_ptr<UcxUse>(new UcxUse());
}

// A child's copy of one of its parent's does not count here: it stands for the thread that is missing.
UcxUse::~UcxUse() {
  const std::uint32_t process = base::ForkMark().process();
  Users now = users.load();
  while (now.process == process && !users.compare_exchange_weak(now, Users{process, now.count - 1})) {
  }
}

}  // namespace weft::transports
