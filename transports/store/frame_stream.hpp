// FrameStream: frames over one non-blocking TCP connection, both ways. Not thread safe; its owner holds a lock.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/file_descriptor.hpp"
#include "base/fork_guard.hpp"
#include "transports/store/frame.hpp"

namespace weft::transports {

class FrameStream {
 public:
  // What may wait to be sent; a peer that is so far behind does not read at all.
  static constexpr std::size_t kMaxQueuedBytes = std::size_t{256} << 20;

  explicit FrameStream(base::FileDescriptor socket);  // connected

  int descriptor() const { return socket_.get(); }

  // Takes in what has arrived, at most about `most_bytes`. False once the other side has ended; what came before stays
  // readable.
  bool read(std::size_t most_bytes = std::size_t{1} << 20);
  // The next frame that is here whole. Corrupt as parse_frame; then the stream is of no further use.
  Result<std::optional<Frame>> next(const FrameLimits& limits = {});

  // False if kMaxQueuedBytes would be passed; the frame was not taken.
  bool queue(const Frame& frame);
  // Sends what the system takes. A broken connection swallows it all: read() will tell.
  void flush();
  bool unsent() const { return !outgoing_.empty(); }

 private:
  base::FileDescriptor socket_;
  std::unique_ptr<base::ForkGuard> guard_;  // before socket_ closes, the guard goes
  std::string incoming_;
  std::size_t parsed_ = 0;  // bytes at the front of incoming_ that next() has taken
  std::deque<std::string> outgoing_;
  std::size_t sent_ = 0;  // bytes of outgoing_.front() that are gone
  std::size_t queued_bytes_ = 0;
};

}  // namespace weft::transports
