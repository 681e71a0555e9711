// A stream is over when both ends have said their last word. Answers with the number of a stream that is over are late
// and mean nothing any more.
#include "stream_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/parse.hpp"
#include "base/plural.hpp"

namespace weft::topo_probe {
namespace {

constexpr std::size_t kMaxStreams = 64;  // of a kind, that are measured alone
constexpr int kRoundMs = 6'000;
constexpr int kJoiningMs = 2'000;  // of a round, for ends to find each other

bool is_tcp(std::string_view kind) { return kind == topology::kTcp; }

}  // namespace

Status StreamRounds::run(const std::vector<Teller>& tellers) {
  if (tellers.size() < 2) return {};
  WEFT_TRY(time_kind(tcp_streams(tellers), tellers.front()));
  return time_kind(rdma_streams(tellers), tellers.front());
}

StreamRounds::Round StreamRounds::tcp_streams(const std::vector<Teller>& tellers) {
  Round streams;
  for (std::size_t i = 0; i < tellers.size(); ++i) {
    Stream& stream = streams.emplace_back();
    stream.from.teller = tellers[i];
    stream.to.teller = tellers[(i + 1) % tellers.size()];
  }
  return streams;
}

// First the first NIC of every host, so that what is measured alone is spread over the hosts.
StreamRounds::Round StreamRounds::rdma_streams(const std::vector<Teller>& tellers) const {
  std::vector<std::vector<topology::RdmaPort>> ports;
  std::size_t most = 0;
  for (const Teller& teller : tellers) {
    ports.push_back(rdma_ports(*nodes_[teller.node].survey));
    most = std::max(most, ports.back().size());
  }
  Round streams;
  for (std::size_t nic = 0; nic < most; ++nic)
    for (std::size_t i = 0; i < tellers.size(); ++i) {
      const std::size_t next = (i + 1) % tellers.size();
      if (nic >= std::min(ports[i].size(), ports[next].size())) continue;
      Stream& stream = streams.emplace_back();
      stream.kind = topology::kRdma;
      stream.from = {.teller = tellers[i], .port = ports[i][nic], .point = {}};
      stream.to = {.teller = tellers[next], .port = ports[next][nic], .point = {}};
    }
  return streams;
}

Status StreamRounds::time_kind(Round streams, const Teller& first) {
  if (streams.empty()) return {};
  left_out_ = 0;
  failed_.clear();
  const bool several = streams.size() > 2;
  const char* kind = streams.front().kind;
  for (std::size_t i = 0; i < std::min(streams.size(), kMaxStreams); ++i) WEFT_TRY(time({streams[i]}));
  for (Stream& stream : streams) stream.at_once = true;
  std::erase_if(streams, [&](const Stream& stream) { return failed_.contains(key(stream.from)); });
  if (several && !streams.empty()) WEFT_TRY(time(streams));
  if (left_out_ > 0)
    nodes_[first.node].survey->remarks.push_back(
        {topology::RemarkKind::Unmeasured, kind,
         fmt::format("{} left out: the time was over", base::plural(left_out_, "stream"))});
  return {};
}

Status StreamRounds::time(const Round& round) {
  if (deadline_.passed()) {
    left_out_ += round.size();
    return {};
  }
  open_.clear();
  for (const Stream& stream : round) WEFT_TRY(open(stream));
  return wait();
}

Status StreamRounds::open(const Stream& stream) {
  const int number = next_number_++;
  Stream& one = open_.emplace(number, stream).first->second;
  for (const End* end : {&one.from, &one.to})
    if (const std::string why = hopeless(*end); !why.empty()) return fail(number, one, why);
  if (is_tcp(one.kind)) return say(one.to, {one.kind, "listen", number, {}});
  for (const End* end : {&one.from, &one.to}) {
    const topology::RdmaPort& port = end->port;
    WEFT_TRY(
        say(*end, {one.kind, "open", number, fmt::format("{} {} {} {}", port.device, port.port, port.gid, port.cpu)}));
  }
  return {};
}

Status StreamRounds::wait() {
  const auto deadline = deadline_.at_most_ms(kRoundMs);
  const auto start = deadline.at_most_ms(kJoiningMs);
  for (;;) {
    std::erase_if(open_, [](const auto& entry) { return entry.second.from.over && entry.second.to.over; });
    if (open_.empty()) return {};
    const bool late = start.passed();
    WEFT_TRY(write_together(late));
    const std::optional<Event> event = mailbox_.next(late ? deadline : start);
    if (!event && late) break;
    if (!event) continue;
    if (!event->message)
      WEFT_TRY(died(event->rank));
    else if (const auto message = parse_stream_message(*event->message))
      WEFT_TRY(heard(event->rank, *message));
  }
  for (auto& [number, stream] : open_) WEFT_TRY(fail(number, stream, "it did not end in time"));
  return {};
}

Status StreamRounds::heard(int rank, const StreamMessage& message) {
  const auto found = open_.find(message.number);
  if (found == open_.end()) return {};
  Stream& stream = found->second;
  if (message.kind != stream.kind || (rank != stream.from.teller.rank && rank != stream.to.teller.rank)) return {};
  End& end = rank == stream.from.teller.rank ? stream.from : stream.to;
  if (message.word == "failed") {
    end.over = true;
    const std::string why = fmt::format("rank {}: {}", rank, message.rest);
    if (!is_tcp(stream.kind) && end.point.empty()) broken_.emplace(key(end), why);
    return fail(message.number, stream, why);
  }
  return is_tcp(stream.kind) ? tcp_heard(stream, end, message) : rdma_heard(stream, end, message);
}

// The receiver says where it is, the sender is sent there.
Status StreamRounds::tcp_heard(Stream& stream, End& end, const StreamMessage& message) {
  const bool receiver = &end == &stream.to;
  if (receiver && message.word == "at" && end.point.empty()) {
    end.point = message.rest;
    return say(stream.from, {stream.kind, "send", message.number, message.rest});
  }
  if (!receiver && message.word == "sent") end.over = true;
  if (receiver && message.word == "rate") {
    end.over = true;
    if (const std::optional<double> gbs = base::parse_decimal(message.rest)) add(stream, *gbs, std::nullopt);
  }
  return {};
}

// Both say where they are and are told of each other; later one writes, then the other checks what came.
Status StreamRounds::rdma_heard(Stream& stream, End& end, const StreamMessage& message) {
  const int number = message.number;
  if (message.word == "at" && end.point.empty()) {
    end.point = message.rest;
    if (stream.from.point.empty() || stream.to.point.empty()) return {};
    WEFT_TRY(say(stream.to, {stream.kind, "join", number, stream.from.point}));
    return say(stream.from, {stream.kind, "join", number, stream.to.point});
  }
  if (message.word == "joined") end.ready = true;
  if (&end == &stream.from && message.word == "rate" && !stream.rate) {
    const std::vector<std::string_view> words = base::split(message.rest, ' ');
    const std::optional<double> gbs = base::parse_decimal(words.front());
    const std::optional<double> latency_us = words.size() == 3 ? base::parse_decimal(words[1]) : std::nullopt;
    if (!gbs || !latency_us) return fail(number, stream, fmt::format("\"{}\" is no rate", message.rest));
    stream.rate = Rate{*gbs, *latency_us};
    return say(stream.to, {stream.kind, "check", number, words.back()});
  }
  if (&end != &stream.to || message.word != "checked" || !stream.rate) return {};
  add(stream, stream.rate->gbs, stream.rate->latency_us);
  return close(number, stream);
}

// RDMA, once both ends of each stream that is left know each other: all at once begin together. `late`: those that do.
Status StreamRounds::write_together(bool late) {
  const auto joined = [](const auto& entry) { return entry.second.from.ready && entry.second.to.ready; };
  if (!late && !std::all_of(open_.begin(), open_.end(), joined)) return {};
  for (auto& entry : open_)
    if (joined(entry) && !std::exchange(entry.second.writing, true))
      WEFT_TRY(say(entry.second.from, {entry.second.kind, "write", entry.first, {}}));
  return {};
}

Status StreamRounds::died(int rank) {
  dead_.insert(rank);
  for (auto& [number, stream] : open_)
    for (const End* end : {&stream.from, &stream.to})
      if (end->teller.rank == rank)
        WEFT_TRY(
            fail(number, stream, fmt::format("rank {} on {} died meanwhile", rank, nodes_[end->teller.node].name)));
  return {};
}

Status StreamRounds::fail(int number, Stream& stream, std::string_view why) {
  failed_.insert(key(stream.from));
  if (!std::exchange(stream.told, true))
    nodes_[stream.from.teller.node].survey->remarks.push_back(
        {topology::RemarkKind::Unmeasured,
         fmt::format("{} from {} to {}{}", stream.kind, name_of(stream.from), name_of(stream.to),
                     stream.at_once ? " while all others run" : ""),
         std::string(why)});
  if (!is_tcp(stream.kind)) return close(number, stream);
  // The receiver need not wait for what does not come; a sender finds nobody there and says so.
  const bool receiver_dead = dead_.contains(stream.to.teller.rank);
  stream.from.over |= stream.to.point.empty() || receiver_dead || dead_.contains(stream.from.teller.rank);
  if (!std::exchange(stream.to.over, true) && !receiver_dead) return say(stream.to, {stream.kind, "stop", number, {}});
  return {};
}

Status StreamRounds::close(int number, Stream& stream) {
  for (End* end : {&stream.from, &stream.to}) {
    if (!dead_.contains(end->teller.rank)) WEFT_TRY(say(*end, {stream.kind, "close", number, {}}));
    end->over = true;
  }
  return {};
}

Status StreamRounds::say(const End& end, const StreamMessage& message) {
  return tell_(end.teller.rank, to_text(message));
}

void StreamRounds::add(const Stream& stream, double gbs, std::optional<double> latency_us) {
  nodes_[stream.from.teller.node].streams.push_back({nodes_[stream.to.teller.node].name, stream.at_once, gbs,
                                                     stream.kind, stream.from.port.nic, stream.to.port.nic,
                                                     latency_us});
}

std::string StreamRounds::hopeless(const End& end) const {
  if (dead_.contains(end.teller.rank))
    return fmt::format("rank {} on {} died", end.teller.rank, nodes_[end.teller.node].name);
  const auto broken = broken_.find(key(end));
  return end.port.nic.empty() || broken == broken_.end() ? std::string() : broken->second;
}

std::string StreamRounds::name_of(const End& end) const {
  const std::string& node = nodes_[end.teller.node].name;
  return end.port.nic.empty() ? node : fmt::format("{}/{}", node, end.port.nic);
}

}  // namespace weft::topo_probe
