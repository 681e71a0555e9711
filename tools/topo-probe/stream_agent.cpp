// Listening and sending, each in a thread, so that a host can do both at once.
#include "stream_agent.hpp"

#include <fmt/format.h>

namespace weft::topo_probe {
namespace {

constexpr int kSendMs = 300;
constexpr int kStreamMs = 5'000;  // for one to come and end

}  // namespace

bool StreamAgent::handle(std::string_view message) {
  constexpr std::string_view kSend = "tcp send ";
  if (message == "tcp listen") {
    listen();
    return true;
  }
  if (!message.starts_with(kSend)) return false;
  send(message.substr(kSend.size()));
  return true;
}

void StreamAgent::listen() {
  if (receiving_.joinable()) receiving_.join();
  Result<topology::TcpReceiver> receiver = topology::TcpReceiver::create();
  if (!receiver) return reply_(fmt::format("tcp failed {}", receiver.error().message()));
  receiver_.emplace(std::move(receiver).value());
  receiving_ = std::jthread([this] {
    const Result<double> gbs = receiver_->receive(deadline_.at_most_ms(kStreamMs));
    reply_(gbs ? fmt::format("tcp rate {}", *gbs) : fmt::format("tcp failed {}", gbs.error().message()));
  });
  reply_(fmt::format("tcp at {}", to_text(receiver_->point())));
}

void StreamAgent::send(std::string_view point) {
  if (sending_.joinable()) sending_.join();
  const Result<topology::TcpMeetingPoint> parsed = topology::parse_meeting_point(point);
  if (!parsed) return reply_(fmt::format("tcp failed {}", parsed.error().message()));
  sending_ = std::jthread([this, where = *parsed] {
    const Status sent = topology::send_tcp(where, kSendMs, deadline_.at_most_ms(kStreamMs));
    reply_(sent.ok() ? "tcp sent" : fmt::format("tcp failed {}", sent.message()));
  });
}

}  // namespace weft::topo_probe
