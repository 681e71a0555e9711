// Listening and sending, each in a thread, so that a host can do both at once.
#include "stream_agent.hpp"

#include <fmt/format.h>

#include "topology/sources.hpp"

namespace weft::topo_probe {
namespace {

constexpr int kSendMs = 300;
constexpr int kStreamMs = 5'000;  // for one to come and end

}  // namespace

StreamAgent::~StreamAgent() { stop_listening(); }

bool StreamAgent::handle(std::string_view text) {
  const std::optional<StreamMessage> message = parse_stream_message(text);
  if (!message) return false;
  if (rdma_.handle(*message)) return true;
  if (message->word == "listen")
    listen(message->number);
  else if (message->word == "send")
    send(message->number, message->rest);
  else if (message->word == "stop" && message->number == receiving_number_)
    stop_listening();
  return true;
}

void StreamAgent::listen(int number) {
  stop_listening();
  Result<topology::TcpReceiver> receiver = topology::TcpReceiver::create();
  if (!receiver) return reply("failed", number, receiver.error().message());
  receiver_.emplace(std::move(receiver).value());
  receiving_number_ = number;
  reply("at", number, to_text(receiver_->point()));
  receiving_ = std::jthread([this, number] {
    const Result<double> gbs = receiver_->receive(deadline_.at_most_ms(kStreamMs));
    if (gbs)
      reply("rate", number, fmt::format("{}", *gbs));
    else
      reply("failed", number, gbs.error().message());
  });
}

void StreamAgent::send(int number, std::string_view point) {
  if (sending_.joinable()) sending_.join();
  const Result<topology::TcpMeetingPoint> parsed = topology::parse_meeting_point(point);
  if (!parsed) return reply("failed", number, parsed.error().message());
  sending_ = std::jthread([this, number, where = *parsed] {
    const Status sent = topology::send_tcp(where, kSendMs, deadline_.at_most_ms(kStreamMs));
    if (sent.ok())
      reply("sent", number);
    else
      reply("failed", number, sent.message());
  });
}

void StreamAgent::stop_listening() {
  if (!receiving_.joinable()) return;
  receiver_->stop();
  receiving_.join();
}

void StreamAgent::reply(std::string_view word, int number, std::string_view rest) {
  reply_(to_text({topology::kTcp, word, number, rest}));
}

}  // namespace weft::topo_probe
