// The list is thread-local, so it needs no lock; it is as long as the communicators in use.
#include "comm/thread_work.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "comm/communicator_state.hpp"

namespace weft::comm {
namespace {

struct Entry {
  CommunicatorState* communicator;
  std::weak_ptr<const void> alive;
  int started;
};

std::vector<Entry>& entries() {
  thread_local std::vector<Entry> list;
  return list;
}

}  // namespace

const void* this_thread_work() { return &entries(); }

void enter_thread_work(CommunicatorState* communicator, const std::shared_ptr<const void>& alive) {
  std::erase_if(entries(), [](const Entry& entry) { return entry.alive.expired(); });
  for (Entry& entry : entries()) {
    if (entry.communicator != communicator) continue;
    ++entry.started;
    return;
  }
  entries().push_back({communicator, alive, 1});
}

void leave_thread_work(CommunicatorState* communicator) {
  auto& list = entries();
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Entry& entry) { return entry.communicator == communicator; });
  if (found != list.end() && --found->started == 0) list.erase(found);
}

bool drive_thread_work() {
  bool moved = false;
  for (const Entry& entry : entries()) moved = (!entry.alive.expired() && entry.communicator->drive_guarded()) || moved;
  return moved;
}

bool other_thread_work(const CommunicatorState* communicator) {
  const auto& list = entries();
  return std::any_of(list.begin(), list.end(), [&](const Entry& entry) { return entry.communicator != communicator; });
}

}  // namespace weft::comm
