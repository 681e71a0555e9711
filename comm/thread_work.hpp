// What the calling thread has in flight, over all communicators: any wait advances all of it, because the operation it
// waits for may need a peer that waits for another of them.
#pragma once

namespace weft::comm {

class CommunicatorState;

// Adds to / removes from the calling thread's list; counted, so that each start pairs with one finish on the same
// thread.
void enter_thread_work(CommunicatorState* communicator);
void leave_thread_work(CommunicatorState* communicator);
// One round over everything in the list. True if anything moved.
bool drive_thread_work();
// True if something of another communicator than this is in flight on this thread.
bool other_thread_work(const CommunicatorState* communicator);

}  // namespace weft::comm
