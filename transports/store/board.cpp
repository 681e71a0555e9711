// One function per question, each answered now or when the key comes.
#include "transports/store/board.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "transports/store/printable.hpp"

namespace weft::transports {
namespace {

Frame done(std::uint32_t request) { return Frame{.type = FrameType::Done, .request = request}; }

Frame value_of(std::uint32_t request, std::string value) {
  return Frame{.type = FrameType::Value, .request = request, .value = std::move(value)};
}

Frame failed(std::uint32_t request, Code code, std::string message, int peer = -1) {
  return Frame{.type = FrameType::Failed,
               .code = static_cast<std::uint8_t>(code),
               .request = request,
               .rank = peer,
               .value = std::move(message)};
}

Frame died(int rank) { return Frame{.type = FrameType::Died, .rank = rank}; }

std::string waited_for_dead(std::string_view key, int dead) {
  return fmt::format("rank {} died while key '{}' was awaited", dead, printable(key));
}

}  // namespace

Board::Board(int size, Post post) : post_(std::move(post)) {
  WEFT_ASSERT(size > 0);
  members_.resize(static_cast<std::size_t>(size), Member::Absent);
  backlog_.resize(members_.size());
}

void Board::join(int rank) {
  WEFT_ASSERT(member(rank) == Member::Absent || member(rank) == Member::Left);
  const auto index = static_cast<std::size_t>(rank);
  members_[index] = Member::Here;
  for (int other = 0; other < size(); ++other) {
    if (member(other) == Member::Dead) post_(rank, died(other));
  }
  for (Frame& message : std::exchange(backlog_[index], {})) post_(rank, std::move(message));
}

Status Board::handle(int rank, Frame&& frame) {
  WEFT_ASSERT(member(rank) == Member::Here);
  switch (frame.type) {
    case FrameType::Set:
      set(rank, std::move(frame));
      return {};
    case FrameType::Get:
      get(rank, std::move(frame));
      return {};
    case FrameType::Cancel:
      cancel(rank, frame.request);
      return {};
    case FrameType::Remove:
      remove(rank, frame);
      return {};
    case FrameType::Send:
      send(rank, frame);
      return {};
    case FrameType::Leave:
      forget_waits_of(rank);
      post_(rank, done(frame.request));
      members_[static_cast<std::size_t>(rank)] = Member::Left;
      return {};
    default:
      return Status(Code::Corrupt, fmt::format("rank {} sent a frame of type {}, which a member does not send", rank,
                                               static_cast<int>(frame.type)));
  }
}

void Board::die(int rank) {
  if (member(rank) != Member::Here) return;
  members_[static_cast<std::size_t>(rank)] = Member::Dead;
  forget_waits_of(rank);
  for (const auto& [key, waits] : std::exchange(waiting_, {})) {
    for (const Waiting& wait : waits) {
      post_(wait.rank, failed(wait.request, Code::PeerLost, waited_for_dead(key, rank), rank));
    }
  }
  for (int other = 0; other < size(); ++other) {
    if (member(other) == Member::Here) post_(other, died(rank));
  }
}

bool Board::all_came() const { return std::ranges::count(members_, Member::Absent) == 0; }

int Board::here() const { return static_cast<int>(std::ranges::count(members_, Member::Here)); }

void Board::set(int rank, Frame&& frame) {
  if (values_.contains(frame.key)) {
    post_(rank, failed(frame.request, Code::InvalidArgument,
                       fmt::format("key '{}' is set already; remove it first", printable(frame.key))));
    return;
  }
  const std::size_t bytes = frame.key.size() + frame.value.size();
  if (stored_bytes_ + bytes > kMaxStoredBytes) {
    post_(rank,
          failed(
              frame.request, Code::ResourceExhausted,
              fmt::format("the store holds {} bytes and has no room for {} more: remove keys that are no longer needed",
                          stored_bytes_, bytes)));
    return;
  }
  stored_bytes_ += bytes;
  const auto placed = values_.emplace(std::move(frame.key), std::move(frame.value)).first;
  post_(rank, done(frame.request));
  if (auto waits = waiting_.extract(placed->first)) {
    for (const Waiting& wait : waits.mapped()) post_(wait.rank, value_of(wait.request, placed->second));
  }
}

void Board::get(int rank, Frame&& frame) {
  if (const auto found = values_.find(frame.key); found != values_.end()) {
    post_(rank, value_of(frame.request, found->second));
    return;
  }
  // A key that is not there when somebody has died may never come: better an error now than at the deadline.
  if (const auto dead = std::ranges::find(members_, Member::Dead); dead != members_.end()) {
    const int culprit = static_cast<int>(dead - members_.begin());
    post_(rank, failed(frame.request, Code::PeerLost, waited_for_dead(frame.key, culprit), culprit));
    return;
  }
  waiting_[std::move(frame.key)].push_back({rank, frame.request});
}

void Board::cancel(int rank, std::uint32_t request) {
  for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry) {
    auto& waits = entry->second;
    const auto removed = std::erase_if(waits, [&](const Waiting& w) { return w.rank == rank && w.request == request; });
    if (removed == 0) continue;
    if (waits.empty()) waiting_.erase(entry);
    post_(rank, failed(request, Code::Timeout, absent_ranks()));
    return;
  }
}

void Board::remove(int rank, const Frame& frame) {
  if (const auto found = values_.find(frame.key); found != values_.end()) {
    stored_bytes_ -= found->first.size() + found->second.size();
    values_.erase(found);
  }
  post_(rank, done(frame.request));
}

void Board::send(int from, const Frame& frame) {
  if (frame.rank >= 0 && frame.rank < size()) {
    send_to(frame.rank, from, frame.value);
    return;
  }
  for (int to = 0; to < size(); ++to) {
    if (to != from) send_to(to, from, frame.value);
  }
}

void Board::send_to(int to, int from, const std::string& message) {
  Frame notice{.type = FrameType::Message, .rank = from, .value = message};
  if (member(to) == Member::Here) post_(to, std::move(notice));
  if (member(to) != Member::Absent) return;
  auto& backlog = backlog_[static_cast<std::size_t>(to)];
  std::size_t bytes = message.size();
  for (const Frame& earlier : backlog) bytes += earlier.value.size() + sizeof(Frame);
  if (bytes <= kMaxBacklogBytes) backlog.push_back(std::move(notice));
}

void Board::forget_waits_of(int rank) {
  for (auto entry = waiting_.begin(); entry != waiting_.end();) {
    std::erase_if(entry->second, [&](const Waiting& wait) { return wait.rank == rank; });
    entry = entry->second.empty() ? waiting_.erase(entry) : std::next(entry);
  }
}

std::string Board::absent_ranks() const {
  std::vector<int> absent;
  for (int rank = 0; rank < size(); ++rank) {
    if (member(rank) == Member::Absent) absent.push_back(rank);
  }
  if (absent.empty()) return {};
  constexpr std::size_t kNamed = 16;
  const std::size_t named = std::min(absent.size(), kNamed);
  std::string text =
      fmt::format("{}", fmt::join(absent.begin(), absent.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (absent.size() > named) text += fmt::format(" and {} more", absent.size() - named);
  return last_refusal_.empty() ? text : text + "\n" + last_refusal_;
}

}  // namespace weft::transports
