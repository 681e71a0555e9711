// A program that a test runs: started in a process group of its own, its output collected, and ended with all that it
// started when the test is done with it. Every wait has a deadline.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft::test {

using Environment = std::map<std::string, std::string>;

struct Outcome {
  bool in_time = false;  // false: still running at the deadline; nothing else is known
  int exit_code = -1;    // -1 if a signal ended it
  int signal = 0;
  double seconds = 0;  // since the start
  std::string output;  // standard output and error

  bool succeeded() const { return in_time && exit_code == 0; }
};

class Process {
 public:
  // `command[0]` is looked up in PATH. The program sees this process's environment without what launchers and Weft set,
  // plus `environment`.
  static Process start(const std::vector<std::string>& command, const Environment& environment = {});

  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  // Kills the group and reaps the program.
  ~Process();

  pid_t pid() const { return pid_; }
  void signal(int number) const;  // to the program only
  Outcome wait(std::chrono::milliseconds deadline);
  // Until `text` stands in the output; false at the deadline or when the program ended without it.
  bool wait_for_output(const std::string& text, std::chrono::milliseconds deadline) const;
  std::string output() const;

 private:
  class Log;
  Process(pid_t pid, std::unique_ptr<Log> log);

  pid_t pid_;
  std::unique_ptr<Log> log_;
  std::chrono::steady_clock::time_point started_;
  bool reaped_ = false;
};

// Runs to the end.
Outcome run(const std::vector<std::string>& command, const Environment& environment = {},
            std::chrono::milliseconds deadline = std::chrono::seconds(60));

// A program of this build: "weft-bench".
std::string program(const std::string& name);

// A loopback port that is free now.
int free_port();

}  // namespace weft::test
