// Questions, answers, blame and farewells.
#include "comm/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/assert.hpp"
#include "base/deadline.hpp"
#include "base/heap_bytes.hpp"
#include "comm/call_code.hpp"

namespace weft::comm {
namespace {

constexpr std::size_t kMaxFarewells = 1024;
constexpr std::size_t kMaxEarly = 4096;
// For ranks to answer when one must be blamed: control threads answer whatever the program does, but may get no core at
// once.
constexpr int kRollCallMs = 1000;
// Every rank that waits asks every other, all through rank 0.
constexpr int kMaxRollCall = 128;

// A call as its rank tells it; `made`: the operator that its program made for it, if that is known.
struct Told {
  int rank = 0;
  CallRecord call;
  std::string made;
};

// Why calls that look alike are not.
std::string difference(const Told& first, const Told& second) {
  const std::optional<Operation> known = decode_call(first.call.call);
  if (first.made != second.made && !first.made.empty() && !second.made.empty()) {
    return fmt::format(" but rank {}'s operator is {}, rank {}'s {}; all ranks must make it alike", first.rank,
                       first.made, second.rank, second.made);
  }
  if (kind_of(first.call.call) == CallKind::OfList) return "; their lists differ, and all ranks must give the same one";
  if (known && known->uneven) return "; their counts differ, and all ranks must give equal ones";
  const bool of_programs = known && reduces(known->collective) && known->op == ReduceOp::UserDefined;
  if (of_programs && (first.made.empty() || second.made.empty())) {
    return " but their operators differ in name or promises, or they chose different schedules: make the same "
           "operators with the same settings and the same Weft everywhere";
  }
  return " but they chose different schedules: their settings or libraries differ; run the same Weft everywhere";
}

// Both calls, lower rank first, so that every rank reads the same sentence.
Status mismatch(const Told& mine, const Told& theirs) {
  const Told& first = mine.rank < theirs.rank ? mine : theirs;
  const Told& second = mine.rank < theirs.rank ? theirs : mine;
  const CallRecord& call = first.call;
  const CallRecord& other = second.call;
  const bool same_call = call.call == other.call && call.count == other.count && call.root == other.root;
  std::string text =
      fmt::format("rank {} called {}, rank {} called {}", first.rank, describe(call), second.rank, describe(other));
  text += same_call ? difference(first, second) : "; all ranks must make the same calls in the same order";
  return Status(Code::Mismatch, std::move(text), theirs.rank);
}

ControlMessage message_to(const Member& member, ControlKind kind) {
  ControlMessage message;
  message.kind = kind;
  message.communicator = member.key();
  return message;
}

ControlMessage failure(const Member& member, const Status& status) {
  ControlMessage message = message_to(member, ControlKind::Fail);
  message.code = status.code();
  message.peer = status.peer();
  message.text = std::string(status.message());
  return message;
}

void to_all_others(const Member& member, const ControlMessage& message,
                   std::vector<std::pair<int, ControlMessage>>* out) {
  for (int peer = 0; peer < member.size(); ++peer) {
    if (peer != member.rank()) out->emplace_back(member.root_rank(peer), message);
  }
}

}  // namespace

Member::Member(CommunicatorKey key, std::vector<int> members, int rank)
    : key_(key), members_(std::move(members)), rank_(rank), messages_(members_.size()) {}

int Member::rank_of(int root_rank) const {
  const auto found = std::find(members_.begin(), members_.end(), root_rank);
  return found == members_.end() ? -1 : static_cast<int>(found - members_.begin());
}

std::optional<CallRecord> Member::reported(int rank) const {
  const std::lock_guard lock(mutex_);
  const auto found = reported_.find(rank);
  if (found == reported_.end()) return std::nullopt;
  return found->second;
}

bool Member::has_left(int rank) const {
  const std::lock_guard lock(mutex_);
  return left_.contains(rank);
}

std::optional<Member::Joining> Member::joining(int rank) const {
  const std::lock_guard lock(mutex_);
  const auto found = joining_.find(rank);
  if (found == joining_.end()) return std::nullopt;
  return found->second;
}

void Member::take_joining(int rank) {
  const std::lock_guard lock(mutex_);
  joining_.erase(rank);
}

void Member::set_splitting(std::string members) {
  const std::lock_guard lock(mutex_);
  splitting_ = std::move(members);
}

std::string Member::splitting(int rank) const {
  const std::lock_guard lock(mutex_);
  const auto found = reported_splitting_.find(rank);
  return found == reported_splitting_.end() ? std::string() : found->second;
}

void Member::name_operator(std::uint64_t call_hash, std::string text) {
  const std::lock_guard lock(mutex_);
  const auto same = [&](const auto& named) { return named.first == call_hash; };
  if (std::any_of(operators_.begin(), operators_.end(), same)) return;
  if (operators_.size() == kOperators) operators_.erase(operators_.begin());
  operators_.emplace_back(call_hash, std::move(text));
}

std::string Member::operator_of(const CallRecord& call) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [hash, text] : operators_)
    if (hash == call.hash) return text;
  return {};
}

std::uint64_t Member::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t texts = 0;
  for (const auto& [hash, text] : operators_) texts += base::heap_bytes(text);
  for (const auto& [rank, text] : reported_splitting_)
    texts += base::kTreeNodeBytes + sizeof(std::pair<int, std::string>) + base::heap_bytes(text);
  return sizeof(Member) + base::heap_bytes(members_) + base::heap_bytes(messages_) + base::heap_bytes(operators_) +
         texts + reported_.size() * (base::kTreeNodeBytes + sizeof(std::pair<int, CallRecord>)) +
         left_.size() * (base::kTreeNodeBytes + sizeof(int)) +
         joining_.size() * (base::kTreeNodeBytes + sizeof(std::pair<int, Joining>));
}

Control::Control(transports::Store& store, Failed failed) : store_(store), failed_(std::move(failed)) {}

Control::~Control() {
  WEFT_ASSERT(members_.empty());  // the last communicator to end takes the runtime with it
  store_.listen({});
}

void Control::add(Member& member) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = members_.empty() && farewells_.empty();
    const bool added = members_.emplace(member.key(), &member).second;
    WEFT_ASSERT(added);
    static_cast<void>(added);
    for (const int root_rank : dead_) raise_death(member, root_rank);
    std::erase_if(early_, [&](const std::pair<int, ControlMessage>& early) {
      if (early.second.communicator != member.key()) return false;
      if (const int rank = member.rank_of(early.first); rank >= 0) keep_joining(member, rank, early.second);
      return true;
    });
  }
  // Only now: what peers say of the root communicator before this rank has it waits in the store.
  if (first) {
    store_.listen({.died = [this](int rank) { on_death(rank); },
                   .message = [this](int from, std::string_view bytes) { on_message(from, bytes); }});
  }
}

void Control::remove(Member& member) {
  ControlMessage farewell = message_to(member, ControlKind::Left);
  if (const auto last = member.history.find(member.history.latest())) farewell.calls.push_back(*last);
  // Who was not there yet when the communicator failed must learn of that, not of a farewell.
  if (member.faults.raised()) farewell = failure(member, member.faults.status());
  {
    const std::lock_guard lock(mutex_);
    members_.erase(member.key());
    if (farewells_.size() == kMaxFarewells) farewells_.erase(farewells_.begin());
    farewells_.emplace(member.key(), farewell);
  }
  Outbox out;
  to_all_others(member, farewell, &out);
  send(out);
}

void Control::ask(Member& member, int peer) {
  ControlMessage question = message_to(member, ControlKind::Ask);
  const std::uint32_t latest = member.history.latest();
  const std::uint32_t first = latest < kMaxAskedCalls ? 1 : latest - kMaxAskedCalls + 1;
  for (std::uint32_t sequence = first; sequence <= latest; ++sequence) {
    const auto record = member.history.find(sequence);
    if (!record) continue;
    question.calls.push_back(*record);
    if (std::string made = member.operator_of(*record); !made.empty())
      question.operators.push_back({sequence, std::move(made)});
  }
  send({{member.root_rank(peer), std::move(question)}});
}

void Control::hear(Member& member, const std::vector<int>& ranks) {
  {
    const std::lock_guard lock(member.mutex_);
    for (const int rank : ranks) member.reported_splitting_.erase(rank);
  }
  roll_call(member, ranks);
}

void Control::tell(Member& member, int peer, const Member::Joining& joining) {
  ControlMessage message = message_to(member, ControlKind::Join);
  message.members = joining.members;
  message.id = joining.id;
  message.text = joining.text;
  send({{member.root_rank(peer), std::move(message)}});
}

void Control::keep_joining(Member& member, int from, const ControlMessage& message) {
  const std::lock_guard lock(member.mutex_);
  member.joining_[from] = {message.members, message.id, message.text};
}

void Control::fail(Member& member, const Status& status, std::uint32_t sequence) {
  const Status blamed = blame(member, status, sequence);
  Outbox out;
  {
    const std::lock_guard lock(mutex_);
    raise_everywhere(member, blamed, &out);
  }
  heard_.notify_all();
  send(out);
}

// A wait sees only its neighbour, who may itself be waiting, and the end of a connection, of which the store may be
// about to say that it was a death.
Status Control::blame(Member& member, const Status& status, std::uint32_t sequence) {
  const bool late = status.code() == Code::Timeout;
  if ((!late && status.code() != Code::PeerLost) || status.peer() == member.rank()) return status;
  std::vector<int> asked;
  for (int rank = 0; rank < member.size(); ++rank) {
    const bool wanted = rank == status.peer() || (late && member.size() <= kMaxRollCall);
    if (wanted && rank != member.rank() && !member.has_left(rank)) asked.push_back(rank);
  }
  const std::vector<int> silent = roll_call(member, asked);
  if (!late) return status;
  if (silent.empty()) return sequence > 0 ? blame_absent(member, status, asked, sequence) : status;
  const bool peer_is_silent = std::find(silent.begin(), silent.end(), status.peer()) != silent.end();
  const int culprit = peer_is_silent ? status.peer() : silent.front();
  return Status(
      Code::Timeout,
      fmt::format("{}. Rank {} does not answer at all: its process is stopped, or its host or network is down",
                  status.message(), culprit),
      culprit);
}

// All have answered: those whose last call was an earlier one keep the others waiting.
Status Control::blame_absent(const Member& member, const Status& status, const std::vector<int>& answered,
                             std::uint32_t sequence) {
  constexpr std::size_t kMaxNamed = 16;
  std::vector<int> absent;
  std::string names;
  for (const int rank : answered) {
    const auto last = member.reported(rank);
    if (last && last->sequence >= sequence) continue;
    absent.push_back(rank);
    if (absent.size() > kMaxNamed) continue;
    names +=
        fmt::format("{}{} ({})", names.empty() ? "" : ", ", rank, last ? "last " + describe(*last) : "no call yet");
  }
  if (absent.empty()) return status;
  if (absent.size() > kMaxNamed) names += fmt::format(" and {} more", absent.size() - kMaxNamed);
  const bool peer_is_absent = std::find(absent.begin(), absent.end(), status.peer()) != absent.end();
  return Status(status.code(), fmt::format("{}. Missing of {} ranks: {}", status.message(), member.size(), names),
                peer_is_absent ? status.peer() : absent.front());
}

// Those of the ranks that do not answer; or have not yet, if an error comes first, which then stands.
std::vector<int> Control::roll_call(Member& member, const std::vector<int>& ranks) {
  Outbox out;
  for (const int rank : ranks) out.emplace_back(member.root_rank(rank), message_to(member, ControlKind::Ask));
  std::unique_lock lock(mutex_);
  const std::vector<std::uint64_t> before = member.messages_;
  lock.unlock();
  send(out);
  lock.lock();
  std::vector<int> silent = ranks;
  const auto answered = [&](int rank) {
    return member.messages_[static_cast<std::size_t>(rank)] != before[static_cast<std::size_t>(rank)];
  };
  heard_.wait_until(lock, base::Deadline::after_ms(kRollCallMs).time(), [&] {
    std::erase_if(silent, answered);
    return silent.empty() || member.faults.raised();
  });
  return silent;
}

void Control::raise_everywhere(Member& member, const Status& status, Outbox* out) {
  if (!raise(member, status)) return;
  to_all_others(member, failure(member, status), out);
}

bool Control::raise(Member& member, Status status) {
  if (!member.faults.raise(std::move(status))) return false;
  failed_(member.key());
  return true;
}

void Control::send(const Outbox& out) {
  // A rank that cannot be told any more is dead or gone, and the store reports that by itself.
  for (const auto& [root_rank, message] : out) static_cast<void>(store_.send(root_rank, encode(message)).ok());
}

void Control::on_message(int from, std::string_view bytes) {
  const Result<ControlMessage> message = decode(bytes);
  if (!message.has_value()) return;
  Outbox out;
  {
    const std::lock_guard lock(mutex_);
    const auto found = members_.find(message->communicator);
    if (found == members_.end()) {
      const auto farewell = farewells_.find(message->communicator);
      const bool joins = message->kind == ControlKind::Join;
      if (farewell != farewells_.end()) {
        if (joins || message->kind == ControlKind::Ask) out.emplace_back(from, farewell->second);
      } else if (joins) {
        if (early_.size() == kMaxEarly) early_.pop_front();
        early_.emplace_back(from, *message);
      }
    } else if (const int rank = found->second->rank_of(from); rank >= 0) {
      ++found->second->messages_[static_cast<std::size_t>(rank)];
      handle(*found->second, rank, *message, &out);
    }
  }
  heard_.notify_all();
  send(out);
}

void Control::handle(Member& member, int from, const ControlMessage& message, Outbox* out) {
  switch (message.kind) {
    case ControlKind::Ask:
      answer(member, from, message, out);
      break;
    case ControlKind::Fail:
      raise(member, Status(message.code, message.text, message.peer));
      break;
    case ControlKind::Join:
      keep_joining(member, from, message);
      break;
    case ControlKind::Report:
    case ControlKind::Left: {
      const std::lock_guard state(member.mutex_);
      if (!message.calls.empty()) member.reported_[from] = message.calls.back();
      if (message.kind == ControlKind::Left) member.left_.insert(from);
      // Most never split.
      if (message.kind == ControlKind::Report && !message.text.empty()) {
        member.reported_splitting_[from] = message.text;
      } else {
        member.reported_splitting_.erase(from);
      }
      break;
    }
  }
}

void Control::answer(Member& member, int from, const ControlMessage& question, Outbox* out) {
  if (member.faults.raised()) {
    out->emplace_back(member.root_rank(from), failure(member, member.faults.status()));
    return;
  }
  for (const CallRecord& theirs : question.calls) {
    const auto mine = member.history.find(theirs.sequence);
    if (mine && *mine != theirs) {
      const auto made = std::find_if(question.operators.begin(), question.operators.end(),
                                     [&](const auto& one) { return one.sequence == theirs.sequence; });
      const Told there{from, theirs, made == question.operators.end() ? std::string() : made->text};
      raise_everywhere(member, mismatch({member.rank(), *mine, member.operator_of(*mine)}, there), out);
      return;
    }
  }
  ControlMessage report = message_to(member, ControlKind::Report);
  if (const auto last = member.history.find(member.history.latest())) report.calls.push_back(*last);
  {
    const std::lock_guard state(member.mutex_);
    report.text = member.splitting_;
  }
  out->emplace_back(member.root_rank(from), std::move(report));
}

void Control::on_death(int root_rank) {
  {
    const std::lock_guard lock(mutex_);
    dead_.insert(root_rank);
    for (const auto& [key, member] : members_) raise_death(*member, root_rank);
  }
  heard_.notify_all();
}

void Control::raise_death(Member& member, int root_rank) {
  const int rank = member.rank_of(root_rank);
  if (rank < 0) return;
  raise(
      member,
      Status(Code::PeerLost,
             fmt::format("rank {} died; restart the job, or let the ranks that are left make a new communicator", rank),
             rank));
}

}  // namespace weft::comm
