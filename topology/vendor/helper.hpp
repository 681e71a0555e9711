// Helper: the process weft-vendor, that asks one vendor's library in our place. It can be given up: it is killed, and
// what it would have said stays unknown.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/deadline.hpp"
#include "base/file_descriptor.hpp"
#include "weft/status.hpp"

namespace weft::topology {

inline constexpr std::size_t kMaxAnswerBytes = std::size_t{1} << 20;

// Where the program lies: in the libexec folder that belongs to the folder of libweft, installed or built. Empty if it
// is not there.
std::string find_helper();

class Helper {
 public:
  // Starts `program library path`.
  static Result<Helper> start(const std::string& program, const std::string& library, const std::string& path);

  Helper(Helper&& other) noexcept : process_(std::exchange(other.process_, -1)), answer_(std::move(other.answer_)) {}
  Helper& operator=(Helper&&) = delete;
  // Kills the process if nobody waited for it.
  ~Helper();

  // All that it writes up to its end. Timeout if that did not come by the deadline, ResourceExhausted if it is too
  // much, SystemError if the process ended in another way than well. The process is gone afterwards, or left to itself
  // if even killing does not end it (a driver that blocks for ever).
  Result<std::string> answer(const base::Deadline& deadline);

 private:
  Helper(pid_t process, base::FileDescriptor answer) : process_(process), answer_(std::move(answer)) {}
  Result<std::string> read_all(const base::Deadline& deadline);
  // How it ended, as waitpid tells; nothing if it did not by then.
  std::optional<int> wait(const base::Deadline& deadline);
  void kill();

  pid_t process_;
  base::FileDescriptor answer_;
};

}  // namespace weft::topology
