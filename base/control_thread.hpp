// Starts the threads that Weft runs for itself: named, and deaf to the application's signals.
#pragma once

#include <functional>
#include <thread>

#include "weft/status.hpp"

namespace weft::base {

// `name` has at most 15 characters (the kernel's limit). ResourceExhausted if the system gives no thread.
Result<std::thread> start_control_thread(const char* name, std::function<void()> body);

}  // namespace weft::base
