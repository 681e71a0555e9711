// Reads what has come and writes what fits, whole frames either way.
#include "transports/store/frame_stream.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/socket.hpp"

namespace weft::transports {

FrameStream::FrameStream(base::FileDescriptor socket)
    : socket_(std::move(socket)), guard_(std::make_unique<base::ForkGuard>(socket_.get())) {
  base::tune_connection(socket_.get());
}

bool FrameStream::read(std::size_t most_bytes) {
  std::array<char, 16384> piece;
  while (most_bytes > 0) {
    const ssize_t got = ::recv(socket_.get(), piece.data(), std::min(piece.size(), most_bytes), MSG_DONTWAIT);
    if (got > 0) {
      incoming_.append(piece.data(), static_cast<std::size_t>(got));
      most_bytes -= static_cast<std::size_t>(got);
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
  return true;
}

Result<std::optional<Frame>> FrameStream::next(const FrameLimits& limits) {
  WEFT_TRY_ASSIGN(auto parsed, parse_frame(std::string_view(incoming_).substr(parsed_), limits));
  if (!parsed) {
    incoming_.erase(0, parsed_);
    parsed_ = 0;
    return std::optional<Frame>();
  }
  parsed_ += parsed->consumed;
  return std::optional<Frame>(std::move(parsed->frame));
}

bool FrameStream::queue(const Frame& frame) {
  std::string bytes = encode(frame);
  if (queued_bytes_ + bytes.size() > kMaxQueuedBytes) return false;
  queued_bytes_ += bytes.size();
  outgoing_.push_back(std::move(bytes));
  return true;
}

void FrameStream::flush() {
  while (!outgoing_.empty()) {
    const std::string_view rest = std::string_view(outgoing_.front()).substr(sent_);
    const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (sent >= 0 && static_cast<std::size_t>(sent) < rest.size()) {
      sent_ += static_cast<std::size_t>(sent);
      continue;
    }
    queued_bytes_ -= outgoing_.front().size();
    outgoing_.pop_front();
    sent_ = 0;
    if (sent < 0) {
      outgoing_.clear();
      queued_bytes_ = 0;
    }
  }
}

}  // namespace weft::transports
