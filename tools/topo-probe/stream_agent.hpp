// StreamAgent: one rank's part in timing streams between hosts. Rank 0 tells it where to listen and where to send.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/deadline.hpp"
#include "topology/measure/tcp.hpp"

namespace weft::topo_probe {

class StreamAgent {
 public:
  // `reply` may be called by threads of the agent.
  StreamAgent(base::Deadline deadline, std::function<void(const std::string&)> reply)
      : deadline_(deadline), reply_(std::move(reply)) {}

  // "tcp listen" is answered by "tcp at POINT" and, when the stream has ended, "tcp rate GBS"; "tcp send POINT" by "tcp
  // sent"; each by "tcp failed REASON". False: the message is none of these.
  bool handle(std::string_view message);

 private:
  void listen();
  void send(std::string_view point);

  base::Deadline deadline_;
  std::function<void(const std::string&)> reply_;
  std::optional<topology::TcpReceiver> receiver_;
  std::jthread receiving_;  // ends before the receiver does
  std::jthread sending_;
};

}  // namespace weft::topo_probe
