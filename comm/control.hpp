// Control: what a process hears from the others outside the data path, and what it makes of it.
//
// The store's control thread calls in at any time, also while this process computes: that is how a rank that is in no
// call can still say what it called, and how everybody learns at once who died. See
// docs/decisions/0001-control-thread.md.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/call_record.hpp"
#include "comm/control_message.hpp"
#include "comm/faults.hpp"
#include "transports/store/store.hpp"

namespace weft::comm {

// What the control thread may touch of a communicator.
class Member final {
 public:
  Member(CommunicatorKey key, std::vector<int> members, int rank);

  const CommunicatorKey& key() const { return key_; }
  int rank() const { return rank_; }
  int size() const { return static_cast<int>(members_.size()); }
  const std::vector<int>& members() const { return members_; }
  int root_rank(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  int rank_of(int root_rank) const;  // -1 if it is no member

  Faults faults;
  CallHistory history;

  // The last call that a peer reported, if it ever did; and whether it has left.
  std::optional<CallRecord> reported(int rank) const;
  bool has_left(int rank) const;

  // What a peer last said of members that it splits off, until it is taken.
  struct Joining {
    std::uint64_t members = 0;  // a digest of the list
    std::uint32_t id = 0;
    std::string text;  // the list for people
  };
  std::optional<Joining> joining(int rank) const;
  void take_joining(int rank);

  // The members, for people, that this rank is about to split off; empty: none. And what a peer last reported of that.
  void set_splitting(std::string members);
  std::string splitting(int rank) const;

  // The operators that the program made for calls, by CallRecord::hash, in the words of UserOperator::describe(): the
  // last kOperators that were named first. Empty: not known.
  void name_operator(std::uint64_t call_hash, std::string text);
  std::string operator_of(const CallRecord& call) const;
  std::uint64_t memory_bytes() const;

 private:
  friend class Control;
  CommunicatorKey key_;
  std::vector<int> members_;  // root ranks by rank
  int rank_;
  mutable std::mutex mutex_;
  std::map<int, CallRecord> reported_;
  std::set<int> left_;
  static constexpr std::size_t kOperators = 64;
  std::vector<std::pair<std::uint64_t, std::string>> operators_;  // oldest first
  std::string splitting_;
  std::map<int, std::string> reported_splitting_;
  std::map<int, Joining> joining_;       // a peer waits for the answer before it says more
  std::vector<std::uint64_t> messages_;  // how many came from each rank; under the Control's mutex
};

class Control final {
 public:
  // `failed` is told of each member whose first fault is raised, on any thread; it must not wait nor call back.
  using Failed = std::function<void(const CommunicatorKey&)>;
  explicit Control(
      transports::Store& store, Failed failed = [](const CommunicatorKey&) {});
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // A member is known between add and remove; after remove() no callback touches it. One that counts a dead rank among
  // its ranks is faulty from the start.
  void add(Member& member);
  void remove(Member& member);  // tells the others that this rank has left

  // Asks a peer whether its calls agree with this rank's latest ones. A contradiction comes back as a fault on all
  // ranks.
  void ask(Member& member, int peer);
  // Until the ranks have reported their latest call and what they split off, or for a second.
  void hear(Member& member, const std::vector<int>& ranks);
  // Says to a peer what this rank splits off.
  void tell(Member& member, int peer, const Member::Joining& joining);
  // Raises here and tells all other members. A Timeout or PeerLost, which blames a peer, may wait a second for whoever
  // knows better: the store, or the ranks that all do answer but for one.
  // Of a late call, whose `sequence` it is (0: no call), it finds out which ranks have not made it.
  void fail(Member& member, const Status& status, std::uint32_t sequence = 0);

 private:
  // Messages to send once the lock is released: a store may deliver at once, on this thread, to a Control that then
  // locks.
  using Outbox = std::vector<std::pair<int, ControlMessage>>;  // by root rank

  void on_message(int from, std::string_view bytes);
  void on_death(int root_rank);
  void handle(Member& member, int from, const ControlMessage& message, Outbox* out);
  void answer(Member& member, int from, const ControlMessage& question, Outbox* out);
  Status blame(Member& member, const Status& status, std::uint32_t sequence);
  static Status blame_absent(const Member& member, const Status& status, const std::vector<int>& answered,
                             std::uint32_t sequence);
  std::vector<int> roll_call(Member& member, const std::vector<int>& ranks);
  void raise_everywhere(Member& member, const Status& status, Outbox* out);
  static void keep_joining(Member& member, int from, const ControlMessage& message);
  void raise_death(Member& member, int root_rank);
  bool raise(Member& member, Status status);  // true: it is the first
  void send(const Outbox& out);

  transports::Store& store_;
  const Failed failed_;
  std::mutex mutex_;
  std::condition_variable heard_;  // something of somebody
  std::map<CommunicatorKey, Member*> members_;
  std::set<int> dead_;  // root ranks
  // Farewells of communicators that were removed here, for peers that had not made theirs when it was said. The oldest
  // are forgotten.
  std::map<CommunicatorKey, ControlMessage> farewells_;
  // Joins of communicators that peers have already and this rank is yet to make. The oldest are forgotten.
  std::deque<std::pair<int, ControlMessage>> early_;
};

}  // namespace weft::comm
