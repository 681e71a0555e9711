// One stream of bytes over TCP between two hosts, timed where it arrives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/file_descriptor.hpp"
#include "weft/status.hpp"

namespace weft::topology {

// Where a stream is awaited: addresses to be tried in turn, and a word by which the right host is known.
struct TcpMeetingPoint {
  std::vector<std::string> addresses;
  int port = 0;
  std::uint64_t word = 0;

  bool operator==(const TcpMeetingPoint&) const = default;
};
std::string to_text(const TcpMeetingPoint& point);  // "10.0.0.1,fd00::1 40123 8237462"
Result<TcpMeetingPoint> parse_meeting_point(std::string_view text);

class TcpReceiver {
 public:
  static Result<TcpReceiver> create();
  TcpMeetingPoint point() const;
  // GB/s of the stream that comes with the word; others are turned away. Ends by the deadline.
  Result<double> receive(base::Deadline deadline);
  // Another thread's receive() ends, unless a stream has come already.
  void stop() const;

 private:
  TcpReceiver(base::FileDescriptor listener, std::uint64_t word) : listener_(std::move(listener)), word_(word) {}
  base::FileDescriptor listener_;
  std::uint64_t word_;
};

// Sends for that long to the first address that answers with the right word.
Status send_tcp(const TcpMeetingPoint& point, int milliseconds, base::Deadline deadline);

}  // namespace weft::topology
