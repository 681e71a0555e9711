// The other ranks' half of connect_store: looking for rank 0 until it answers.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "base/assert.hpp"
#include "base/deadline.hpp"
#include "base/socket.hpp"
#include "transports/store/client.hpp"
#include "transports/store/hello.hpp"
#include "transports/store/printable.hpp"
#include "transports/store/socket_link.hpp"
#include "transports/store/tcp_store.hpp"

namespace weft::transports {
namespace {

constexpr int kFirstAttemptMs = 200;     // for one address to accept and to answer the hello; doubled with every round,
constexpr int kLongestAttemptMs = 3000;  // so that a silent stranger costs little and a slow rank 0 is found in the end
constexpr int kLongestPauseMs = 100;     // between rounds
// A port that takes no connection at all belongs to a host that is away, or to a service with a full backlog. Its
// neighbours get only this part of the time to take one, so that the former does not cost sixteen times as much.
constexpr int kSilentShare = 8;

std::vector<std::string> split_hosts(const std::string& list) {
  std::vector<std::string> hosts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) hosts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return hosts;
}

// Sends `question` and waits for the frame that answers it. PeerLost if the other side ends, Timeout, or what
// parse_frame says.
Result<Frame> ask(FrameStream& stream, const Frame& question, base::Deadline deadline) {
  const bool queued = stream.queue(question);
  WEFT_ASSERT(queued);
  static_cast<void>(queued);
  const FrameLimits limits{.key_bytes = kMaxHelloBytes, .value_bytes = kMaxHelloBytes};
  for (;;) {
    stream.flush();
    const bool open = stream.read(kFrameHeaderBytes + 2 * kMaxHelloBytes);
    WEFT_TRY_ASSIGN(auto frame, stream.next(limits));
    if (frame) return *std::move(frame);
    if (!open) return Status(Code::PeerLost, "closed the connection without an answer");
    pollfd polled{.fd = stream.descriptor(), .events = POLLIN, .revents = 0};
    if (stream.unsent()) polled.events |= POLLOUT;
    const int ready = ::poll(&polled, 1, deadline.remaining_ms());
    if (ready == 0) return Status(Code::Timeout, "does not answer");
    if (ready < 0 && errno != EINTR) return Status(Code::SystemError, base::system_error_text(errno));
  }
}

class Search {
 public:
  explicit Search(const Options& options)
      : options_(options), hello_(make_hello(options)), deadline_(base::Deadline::after_ms(options.timeout_ms)) {}

  Result<FrameStream> run() {
    int pause_ms = 1;
    for (;;) {
      if (auto found = round()) return std::move(*found);
      if (!final_.ok()) return final_;
      if (deadline_.passed()) return nobody();
      std::this_thread::sleep_for(std::chrono::milliseconds(std::min(pause_ms, deadline_.remaining_ms())));
      pause_ms = std::min(2 * pause_ms, kLongestPauseMs);
      attempt_ms_ = std::min(2 * attempt_ms_, kLongestAttemptMs);
    }
  }

 private:
  std::optional<FrameStream> round() {
    for (const std::string& host : split_hosts(options_.rendezvous_host)) {
      const auto addresses = base::resolve(host, options_.rendezvous_port);
      if (!addresses.has_value()) {
        reasons_[""] = addresses.error().message();
        continue;
      }
      for (const auto& address : *addresses) {
        if (auto found = try_address(address)) return found;
        if (!final_.ok() || deadline_.passed()) return {};
      }
    }
    return {};
  }

  std::optional<FrameStream> try_address(const base::SocketAddress& first) {
    int connect_ms = attempt_ms_;
    for (int i = 0; i < std::max(options_.port_tries, 1) && first.port() + i <= 65535; ++i) {
      const auto address = first.with_port(first.port() + i);
      auto result = try_port(address, connect_ms);
      if (result.has_value()) return std::move(*result);
      note(address.to_string(), std::string(result.error().message()));
      if (!final_.ok() || deadline_.passed()) return {};
      if (silent_) connect_ms = attempt_ms_ / kSilentShare;
    }
    return {};
  }

  Result<FrameStream> try_port(const base::SocketAddress& address, int connect_ms) {
    auto socket = base::connect_to(address, deadline_.at_most_ms(connect_ms));
    silent_ = !socket.has_value() && socket.error().code() == Code::Timeout;
    if (!socket.has_value()) return std::move(socket).error();
    FrameStream stream(std::move(*socket));
    WEFT_TRY_ASSIGN(const Frame answer, ask(stream, to_frame(hello_), deadline_.at_most_ms(attempt_ms_)));
    WEFT_TRY(check(answer, FrameType::Welcome, address));
    WEFT_TRY_ASSIGN(const Frame joined, ask(stream, Frame{.type = FrameType::Join}, deadline_));
    WEFT_TRY(check(joined, FrameType::Done, address));
    return stream;
  }

  // What the deadline cut short says less than what an earlier attempt saw.
  void note(const std::string& place, std::string reason) {
    if (deadline_.passed() && reasons_.contains(place)) return;
    reasons_[place] = std::move(reason);
  }

  Status check(const Frame& answer, FrameType expected, const base::SocketAddress& address) {
    if (answer.type == expected) return {};
    if (answer.type != FrameType::Refused) return Status(Code::Corrupt, "gives a wrong answer");
    const std::string reason = printable(answer.value);
    const bool only_port = options_.port_tries <= 1;
    if (only_port && !patience_) patience_ = base::Deadline::after_ms(kPortPatienceMs);
    if (answer.code != 0 || (only_port && patience_->passed())) {
      final_ = Status(Code::InvalidArgument, fmt::format("rank {} was refused by rank 0 at {}: {}", options_.rank,
                                                         address.to_string(), reason));
    }
    return Status(Code::InvalidArgument, reason);
  }

  Status nobody() const {
    constexpr std::size_t kMostPlaces = 3;
    std::map<std::string, std::vector<std::string>> places_by_reason;
    for (const auto& [place, reason] : reasons_) places_by_reason[reason].push_back(place);
    std::vector<std::string> parts;
    for (auto& [reason, places] : places_by_reason) {
      const bool more = places.size() > kMostPlaces;
      if (more) places.resize(kMostPlaces);
      const bool placeless = places.front().empty();
      parts.push_back(placeless ? reason
                                : fmt::format("{}{}: {}", fmt::join(places, ", "), more ? ", ..." : "", reason));
    }
    return Status(
        Code::Timeout,
        fmt::format(
            "rank {} did not find rank 0 of job '{}' in {:g} s ({}). Is rank 0 running, at that address, and with "
            "the same job? Set WEFT_TIMEOUT to wait longer.",
            options_.rank, printable(options_.job_id), options_.timeout_ms / 1000.0, fmt::join(parts, "; ")));
  }

  const Options& options_;
  const Hello hello_;
  const base::Deadline deadline_;
  int attempt_ms_ = kFirstAttemptMs;
  bool silent_ = false;  // the last port took no connection
  Status final_;
  std::optional<base::Deadline> patience_;      // with the only port being held by another job
  std::map<std::string, std::string> reasons_;  // why there is no rank 0 yet, by place
};

}  // namespace

Result<std::unique_ptr<Store>> join_store(const Options& options) {
  WEFT_TRY_ASSIGN(FrameStream stream, Search(options).run());
  auto inbox = std::make_unique<Inbox>();
  auto client = std::make_unique<StoreClient>(options.rank, options.size, options.timeout_ms, *inbox);
  auto link = std::make_unique<SocketLink>(std::move(stream), std::move(inbox));
  SocketLink& started = *link;
  client->attach(std::move(link));
  WEFT_TRY(started.start(*client));
  return Result<std::unique_ptr<Store>>(std::move(client));
}

}  // namespace weft::transports
