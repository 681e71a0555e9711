// StreamAgent: one rank's part in timing streams between hosts. Rank 0 tells it where to listen and where to send.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/deadline.hpp"
#include "rdma_agent.hpp"
#include "stream_message.hpp"
#include "topology/measure/tcp.hpp"

namespace weft::topo_probe {

class StreamAgent {
 public:
  // `reply` may be called by threads of the agent.
  StreamAgent(base::Deadline deadline, std::function<void(const std::string&)> reply)
      : deadline_(deadline), reply_(std::move(reply)), rdma_(deadline, reply_) {}

  StreamAgent(const StreamAgent&) = delete;
  StreamAgent& operator=(const StreamAgent&) = delete;
  ~StreamAgent();

  // Of the stream NUMBER: "tcp listen NUMBER" is answered by "tcp at NUMBER POINT" and, when the stream has ended, "tcp
  // rate NUMBER GBS"; "tcp send NUMBER POINT" by "tcp sent NUMBER"; each by "tcp failed NUMBER REASON". "tcp stop
  // NUMBER" ends the listening. False: the message is none of these.
  bool handle(std::string_view message);

 private:
  void listen(int number);
  void send(int number, std::string_view point);
  void stop_listening();
  void reply(std::string_view word, int number, std::string_view rest = {});

  base::Deadline deadline_;
  std::function<void(const std::string&)> reply_;
  std::optional<topology::TcpReceiver> receiver_;
  int receiving_number_ = 0;
  std::jthread receiving_;  // ends before the receiver does
  std::jthread sending_;
  RdmaAgent rdma_;
};

}  // namespace weft::topo_probe
