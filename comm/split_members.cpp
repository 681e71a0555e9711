// Splitting off members that know each other: they agree on a number for the new communicator through the first of
// them.
//
//   members 5, 2, 7:   5 -> 2, 7 -> 2   the lowest number that I can take
//                      2 -> 5, 2 -> 7   the highest of these is ours
//
// The first is the lowest rank, whatever the list's order. Every rank takes higher numbers only, so two communicators
// with a common rank never have the same.
#include <fmt/format.h>

#include <algorithm>

#include "base/deadline.hpp"
#include "base/fnv1a.hpp"
#include "base/plural.hpp"
#include "comm/communicator_state.hpp"
#include "comm/patience.hpp"
#include "comm/thread_work.hpp"

namespace weft::comm {
namespace {

constexpr std::size_t kMaxListed = 512;  // characters of a list in a message
// The first member waits until the deadline for the others; they longer, for what it has to say then: it may ask the
// ranks twice, for a second each time.
constexpr int kVerdictMs = 2500;

Status bad_member(std::string text) {
  return Status(Code::InvalidArgument, "split_members: " + std::move(text) +
                                           "; give the ranks of the new communicator, each once, this one among them");
}

Status check_members(std::span<const int> members, int rank, int size) {
  std::vector<bool> seen(static_cast<std::size_t>(size));
  for (const int member : members) {
    if (member < 0 || member >= size)
      return bad_member(fmt::format("member {} is not a rank of this communicator of {}", member, size));
    if (seen[static_cast<std::size_t>(member)]) return bad_member(fmt::format("member {} is there twice", member));
    seen[static_cast<std::size_t>(member)] = true;
  }
  if (!seen[static_cast<std::size_t>(rank)]) return bad_member(fmt::format("rank {} is none of the members", rank));
  return {};
}

Member::Joining describe_members(std::span<const int> members, std::uint32_t id) {
  Member::Joining joining;
  joining.id = id;
  std::string bytes;
  for (const int member : members) {
    bytes += fmt::format("{} ", member);
    if (joining.text.size() < kMaxListed) joining.text += fmt::format("{}{}", joining.text.empty() ? "" : ", ", member);
  }
  if (joining.text.size() >= kMaxListed) joining.text += ", ...";
  joining.members = base::fnv1a(bytes);
  return joining;
}

}  // namespace

Result<std::unique_ptr<CommunicatorState>> CommunicatorState::split_members(std::span<const int> members) {
  if (forked()) return in_child();
  WEFT_TRY(member_.faults.status());
  WEFT_TRY(check_members(members, rank(), size()));
  const auto turn = runtime_->split_turn();
  if (!turn.owns_lock()) return another_splits("split_members");
  member_.set_splitting(describe_members(members, 0).text);
  const Result<std::uint32_t> agreed = agree_on_id(members);
  member_.set_splitting({});
  WEFT_TRY_ASSIGN(const std::uint32_t id, agreed);
  std::vector<int> root_ranks;
  for (const int member : members) root_ranks.push_back(member_.root_rank(member));
  const auto own_rank = static_cast<int>(std::find(members.begin(), members.end(), rank()) - members.begin());
  const CommunicatorKey child{id, root_ranks.front()};
  return std::unique_ptr<CommunicatorState>(new CommunicatorState(runtime_, child, std::move(root_ranks), own_rank));
}

Result<std::uint32_t> CommunicatorState::agree_on_id(std::span<const int> members) {
  Member::Joining own = describe_members(members, runtime_->next_id);
  const auto deadline = base::Deadline::after_ms(runtime_->options().timeout_ms);
  const int first = *std::min_element(members.begin(), members.end());
  std::vector<int> others(members.begin(), members.end());
  std::erase(others, rank());
  if (rank() == first) {
    WEFT_TRY(wait_for_members(others, own, deadline));
    for (const int other : others) {
      own.id = std::max(own.id, member_.joining(other)->id);
      member_.take_joining(other);
    }
    for (const int other : others) runtime_->control().tell(member_, other, own);
  } else {
    runtime_->control().tell(member_, first, own);
    WEFT_TRY(wait_for_members({first}, own, deadline.later_by_ms(kVerdictMs)));
    own.id = member_.joining(first)->id;
    member_.take_joining(first);
  }
  runtime_->next_id = own.id + 1;
  return own.id;
}

// Until all of them have said that they split off the same members.
Status CommunicatorState::wait_for_members(std::vector<int> ranks, const Member::Joining& own,
                                           base::Deadline deadline) {
  Patience patience(crowding_);
  for (;;) {
    WEFT_TRY(member_.faults.status());
    Status wrong;
    std::erase_if(ranks, [&](int other) {
      const auto joining = member_.joining(other);
      if (joining && joining->members != own.members) wrong = other_members(other, *joining, own);
      return joining.has_value();
    });
    if (wrong.ok() && ranks.empty()) return {};
    drive_thread_work();
    if (wrong.ok() && patience.pause()) {
      wrong = missing_members(ranks);
      if (wrong.ok() && deadline.passed()) wrong = late_members(ranks, own);
    }
    if (!wrong.ok()) runtime_->control().fail(member_, wrong);
  }
}

// Each waits for the other, with another list.
Status CommunicatorState::other_members(int other, const Member::Joining& theirs, const Member::Joining& own) const {
  return Status(Code::Mismatch,
                fmt::format("split_members: rank {} splits off ranks {}, rank {} ranks {}; all members must give the "
                            "same list, and make such calls in the same order",
                            rank(), own.text, other, theirs.text),
                other);
}

Status CommunicatorState::missing_members(const std::vector<int>& missing) const {
  for (const int other : missing) {
    // What it said before it left has come before.
    if (!member_.has_left(other) || member_.joining(other)) continue;
    return Status(
        Code::PeerLost,
        fmt::format("split_members: rank {} waits for rank {}, which has destroyed its communicator", rank(), other),
        other);
  }
  return {};
}

// Who waits for another first tells that one its list: it must be asked for it.
Status CommunicatorState::late_members(const std::vector<int>& missing, const Member::Joining& own) {
  runtime_->control().hear(member_, missing);
  for (const int other : missing) {
    const std::string theirs = member_.splitting(other);
    if (theirs.empty() || theirs == own.text) continue;
    return Status(Code::Mismatch,
                  fmt::format("split_members: rank {} splits off ranks {} and waited {:g} s for rank {}, which splits "
                              "off ranks {}; all members must give the same list, and make such calls in the same "
                              "order. If they do, a rank that rank {} waits for is late",
                              rank(), own.text, runtime_->options().timeout_ms / 1000.0, other, theirs, other),
                  other);
  }
  return Status(
      Code::Timeout,
      fmt::format("split_members: rank {} splits off ranks {}, but {} did not call it within {:g} s: rank {}. "
                  "All members must; set WEFT_TIMEOUT to wait longer",
                  rank(), own.text, base::plural(missing.size(), "member"), runtime_->options().timeout_ms / 1000.0,
                  fmt::join(missing, ", ")),
      missing.front());
}

}  // namespace weft::comm
