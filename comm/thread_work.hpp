// What the calling thread has in flight, over all communicators: any wait advances all of it, because the operation it
// waits for may need a peer that waits for another of them.
#pragma once

#include <memory>

namespace weft::comm {

class CommunicatorState;

// Names the calling thread for as long as it lives.
const void* this_thread_work();

// Adds to / removes from the calling thread's list; counted. What is left on another thread than entered, or on none,
// is forgotten with the communicator, whose life `alive` shares.
void enter_thread_work(CommunicatorState* communicator, const std::shared_ptr<const void>& alive);
void leave_thread_work(CommunicatorState* communicator);
// One round over everything in the list. True if anything moved.
bool drive_thread_work();
// True if something of another communicator than this is in flight on this thread.
bool other_thread_work(const CommunicatorState* communicator);

}  // namespace weft::comm
