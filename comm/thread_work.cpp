// The list is thread-local, so it needs no lock; it is as long as the communicators in use.
#include "comm/thread_work.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/assert.hpp"
#include "comm/communicator_state.hpp"

namespace weft::comm {
namespace {

struct Entry {
  CommunicatorState* communicator;
  int started;
};

std::vector<Entry>& entries() {
  thread_local std::vector<Entry> list;
  return list;
}

}  // namespace

void enter_thread_work(CommunicatorState* communicator) {
  for (Entry& entry : entries()) {
    if (entry.communicator != communicator) continue;
    ++entry.started;
    return;
  }
  entries().push_back({communicator, 1});
}

void leave_thread_work(CommunicatorState* communicator) {
  auto& list = entries();
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Entry& entry) { return entry.communicator == communicator; });
  WEFT_ASSERT(found != list.end());  // a Work belongs to the thread that started it
  if (--found->started == 0) list.erase(found);
}

bool drive_thread_work() {
  bool moved = false;
  for (const Entry& entry : entries()) moved = entry.communicator->drive_guarded() || moved;
  return moved;
}

bool other_thread_work(const CommunicatorState* communicator) {
  const auto& list = entries();
  return std::any_of(list.begin(), list.end(), [&](const Entry& entry) { return entry.communicator != communicator; });
}

}  // namespace weft::comm
