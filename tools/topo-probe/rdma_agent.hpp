// RdmaAgent: one rank's part in timing RDMA between hosts. Each stream is a process of its own (weft-vendor), which can
// be given up; the agent carries messages between it and rank 0.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "base/deadline.hpp"
#include "stream_message.hpp"
#include "topology/vendor/helper.hpp"

namespace weft::topo_probe {

class RdmaAgent {
 public:
  // `reply` may be called by threads of the agent.
  RdmaAgent(base::Deadline deadline, std::function<void(const std::string&)> reply)
      : deadline_(deadline), reply_(std::move(reply)) {}
  RdmaAgent(const RdmaAgent&) = delete;
  RdmaAgent& operator=(const RdmaAgent&) = delete;
  ~RdmaAgent();

  // Of the stream NUMBER: "rdma open NUMBER DEVICE PORT GID CPU" is answered by "rdma at NUMBER POINT", "rdma join
  // NUMBER POINT" by "rdma joined NUMBER", "rdma write NUMBER" by "rdma rate NUMBER GBS US BYTES", at the other
  // end "rdma check NUMBER BYTES" by "rdma checked NUMBER"; each by "rdma failed NUMBER REASON". "rdma close NUMBER"
  // ends it. False: the message is none of these.
  bool handle(const StreamMessage& message);

 private:
  struct Session {
    explicit Session(topology::Helper started) : helper(std::move(started)) {}
    topology::Helper helper;
    std::atomic<bool> over{false};
    std::jthread listening;  // ends before the helper does
  };

  void open(int number, std::string_view port);
  void tell(int number, const std::string& line);
  void listen(int number, Session& session);
  void reply(std::string_view word, int number, std::string_view rest = {});

  base::Deadline deadline_;
  std::function<void(const std::string&)> reply_;
  std::map<int, Session> sessions_;  // by number
};

}  // namespace weft::topo_probe
