// A stream is over when both ends have said their last word. Answers with the number of a stream that is over are late
// and mean nothing any more.
#include "stream_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/parse.hpp"
#include "base/plural.hpp"
#include "topology/sources.hpp"

namespace weft::topo_probe {
namespace {

constexpr std::size_t kMaxStreams = 64;  // that are measured alone
constexpr int kRoundMs = 6'000;

}  // namespace

Status StreamRounds::run(const std::vector<Teller>& tellers) {
  if (tellers.size() < 2) return {};
  Round all;
  for (std::size_t i = 0; i < tellers.size(); ++i)
    all.push_back({.from = tellers[i], .to = tellers[(i + 1) % tellers.size()]});
  for (std::size_t i = 0; i < std::min(all.size(), kMaxStreams); ++i) WEFT_TRY(time({all[i]}));
  for (Stream& stream : all) stream.at_once = true;
  if (all.size() > 2) WEFT_TRY(time(all));
  if (left_out_ > 0)
    nodes_[tellers.front().node].survey->remarks.push_back(
        {topology::RemarkKind::Unmeasured, topology::kTcp,
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
  for (const Teller& end : {stream.from, stream.to})
    if (dead_.contains(end.rank)) return fail(number, one, fmt::format("{} died", who(end)));
  return tell_(stream.to.rank, to_text({topology::kTcp, "listen", number, {}}));
}

Status StreamRounds::wait() {
  const auto deadline = deadline_.at_most_ms(kRoundMs);
  for (;;) {
    std::erase_if(open_, [](const auto& entry) { return entry.second.sent && entry.second.received; });
    if (open_.empty()) return {};
    const std::optional<Event> event = mailbox_.next(deadline);
    if (!event) break;
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
  if (rank == stream.to.rank && message.word == "at" && !std::exchange(stream.sending, true))
    return tell_(stream.from.rank, to_text({topology::kTcp, "send", message.number, message.rest}));
  if (rank == stream.from.rank && message.word == "sent") {
    stream.sent = true;
  } else if (rank == stream.to.rank && message.word == "rate") {
    stream.received = true;
    if (const std::optional<double> gbs = base::parse_decimal(message.rest))
      nodes_[stream.from.node].streams.push_back({nodes_[stream.to.node].name, stream.at_once, *gbs});
  } else if (message.word == "failed" && (rank == stream.from.rank || rank == stream.to.rank)) {
    (rank == stream.from.rank ? stream.sent : stream.received) = true;
    return fail(message.number, stream, fmt::format("rank {}: {}", rank, message.rest));
  }
  return {};
}

Status StreamRounds::died(int rank) {
  dead_.insert(rank);
  for (auto& [number, stream] : open_)
    for (const Teller& end : {stream.from, stream.to})
      if (end.rank == rank) WEFT_TRY(fail(number, stream, fmt::format("{} died meanwhile", who(end))));
  return {};
}

// The receiver need not wait for what does not come; the sender finds nobody there.
Status StreamRounds::fail(int number, Stream& stream, std::string_view why) {
  const std::string& from = nodes_[stream.from.node].name;
  const std::string& to = nodes_[stream.to.node].name;
  if (!std::exchange(stream.refused, true))
    nodes_[stream.from.node].survey->remarks.push_back(
        {topology::RemarkKind::Unmeasured,
         fmt::format("{} from {} to {}{}", topology::kTcp, from, to, stream.at_once ? " while all others run" : ""),
         std::string(why)});
  stream.sent |= !stream.sending || dead_.contains(stream.from.rank) || dead_.contains(stream.to.rank);
  if (!stream.received && !dead_.contains(stream.to.rank))
    WEFT_TRY(tell_(stream.to.rank, to_text({topology::kTcp, "stop", number, {}})));
  stream.received = true;
  return {};
}

std::string StreamRounds::who(const Teller& teller) const {
  return fmt::format("rank {} on {}", teller.rank, nodes_[teller.node].name);
}

}  // namespace weft::topo_probe
