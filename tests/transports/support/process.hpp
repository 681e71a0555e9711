// A forked process with a pipe each way, for what only processes can show. Fork before threads are started.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

namespace weft::transports::testing {

// Length-prefixed strings over a pipe or socket.
class Pipe {
 public:
  explicit Pipe(int descriptor) : descriptor_(descriptor) {}
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe();
  void write(const std::string& text);
  std::string read();  // fails the process if nothing comes within the deadline of the tests

 private:
  int descriptor_;
};

class Process {
 public:
  // Runs `body` in a child, which exits with body's result (or 1 if a gtest expectation failed there).
  explicit Process(const std::function<int(Pipe&)>& body);
  ~Process();  // kills it if it still runs

  pid_t pid() const { return pid_; }
  Pipe& pipe() { return *pipe_; }
  void kill();
  int wait();  // the exit code, -1 if a signal ended it

 private:
  pid_t pid_ = -1;
  std::unique_ptr<Pipe> pipe_;
};

int open_descriptors();  // of this process

}  // namespace weft::transports::testing
