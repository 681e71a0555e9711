// Signals are blocked before the thread starts, for it inherits the mask.
#include "base/control_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <cstring>
#include <string>
#include <system_error>

#include "base/assert.hpp"

namespace weft::base {

Result<std::thread> start_control_thread(const char* name, std::function<void()> body) {
  WEFT_ASSERT(std::strlen(name) <= 15);
  // A thread inherits the mask of its maker, so that there is no moment in which a signal could be handled on it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  std::string failure;
  try {
    thread = std::thread(std::move(body));
    pthread_setname_np(thread.native_handle(), name);
  } catch (const std::system_error& error) {
    failure = error.what();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread.joinable()) {
    return Status(Code::ResourceExhausted, std::string("no thread for ") + name + ": " + failure + " (see ulimit -u)");
  }
  return thread;
}

}  // namespace weft::base
