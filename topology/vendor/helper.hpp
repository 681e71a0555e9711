// Helper: the process weft-vendor, that asks one vendor's library in our place, or measures with it. It can be given
// up: it is killed, and what it would have said stays unknown.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  // Starts `program arguments...`. It ends with the thread that started it (the kernel kills it then).
  static Result<Helper> start(const std::string& program, const std::vector<std::string>& arguments);

  Helper(Helper&& other) noexcept
      : process_(std::exchange(other.process_, -1)),
        answer_(std::move(other.answer_)),
        input_(std::move(other.input_)),
        read_(std::move(other.read_)) {}
  Helper& operator=(Helper&&) = delete;
  // Kills the process if nobody waited for it.
  ~Helper();

  // All that it writes up to its end. Timeout if that did not come by the deadline, ResourceExhausted if it is too
  // much, SystemError if the process ended in another way than well. The process is gone afterwards, or left to itself
  // if even killing does not end it (a driver that blocks for ever).
  Result<std::string> answer(const base::Deadline& deadline);

  // A line to its standard input. PeerLost if it does not read any more. One thread may talk while another listens.
  Status say(const std::string& line);
  // It will be told no more: its standard input ends.
  void hang_up() { input_ = base::FileDescriptor(); }
  // The next line that it writes, without its end; nothing once it has ended well. Fails as answer() does, and leaves
  // no process then either.
  Result<std::optional<std::string>> next_line(const base::Deadline& deadline);

 private:
  Helper(pid_t process, base::FileDescriptor answer, base::FileDescriptor input)
      : process_(process), answer_(std::move(answer)), input_(std::move(input)) {}
  // Appends to `read_`; false at the end of what it writes.
  Result<bool> read_more(const base::Deadline& deadline);
  Status finish(const base::Deadline& deadline);
  // How it ended, as waitpid tells; nothing if it did not by then.
  std::optional<int> wait(const base::Deadline& deadline);
  void kill();

  pid_t process_;
  base::FileDescriptor answer_;
  base::FileDescriptor input_;
  std::string read_;  // and not yet given away
};

}  // namespace weft::topology
