// CommunicatorState: what a Communicator owns: its ranks, its engine, its plans and its first error.
//
// Reading order: run() -> begin() -> make_plan() (on a miss) -> Engine; wait() when it does not finish at once.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "base/file_descriptor.hpp"
#include "base/fork_guard.hpp"
#include "comm/control.hpp"
#include "comm/engine.hpp"
#include "comm/messages/messages.hpp"
#include "comm/operators.hpp"
#include "comm/patience.hpp"
#include "comm/plan_cache.hpp"
#include "comm/planner.hpp"
#include "comm/runtime.hpp"
#include "weft/communicator.hpp"
#include "weft/cost.hpp"

namespace weft::comm {

class CommunicatorState final : private LaneDirectory, private Progress::Driven {
 public:
  // Over all ranks of the runtime, which it owns.
  static Result<std::unique_ptr<CommunicatorState>> root(std::unique_ptr<Runtime> runtime);
  ~CommunicatorState() override;
  CommunicatorState(const CommunicatorState&) = delete;
  CommunicatorState& operator=(const CommunicatorState&) = delete;

  int rank() const { return member_.rank(); }
  int size() const { return member_.size(); }
  const Runtime& runtime() const { return *runtime_; }
  Runtime& runtime() { return *runtime_; }
  const std::vector<int>& members() const { return member_.members(); }  // their root ranks
  std::string_view transport(int peer) const { return runtime_->transport_name(member_.root_rank(peer)); }

  // timeout_ms 0: the communicator's. `purpose`: of a call that the program did not ask for as such.
  Status run(const Operation& operation, int timeout_ms = 0, const Purpose* purpose = nullptr);
  // On success *ticket names the operation until wait() returns its outcome.
  Status start(const Operation& operation, std::uint32_t* ticket);
  // Nothing but an error on another thread than the one that started it. Of a receive, *received is what it got.
  Status wait(std::uint32_t ticket, Received* received = nullptr);
  // As long as `timeout_ms` allows; true: wait() returns at once.
  bool wait_for(std::uint32_t ticket, int timeout_ms);
  bool started_here(std::uint32_t ticket) const;
  bool test(std::uint32_t ticket);  // true: wait() returns at once
  Status prepare(const Operation& operation);
  Status set_algorithms(std::string_view rules);
  Result<Choice> explain(const Operation& operation);
  Operators& operators() { return operators_; }
  // The sequence of the last call.
  std::uint32_t sequence() const { return sequence_; }
  Status destroy_operator(ReduceOp op);

  // Messages: comm/communicator_messages.cpp. `object`: of a receive of any length.
  Result<Received> run(const Message& message, std::vector<std::byte>* object = nullptr);
  Status start(const Message& message, std::uint32_t* ticket);
  Status run(std::span<const Message> messages, std::span<Received> received);

  // comm/operation_list.cpp
  Status run(std::span<const Operation> operations);

  // comm/objects.cpp
  Status broadcast_object(std::vector<std::byte>* object, int root);
  Status all_gather_objects(std::span<const std::byte> object, std::vector<std::vector<std::byte>>* objects);

  Result<std::unique_ptr<CommunicatorState>> split(int color, int key);
  // Called by the members only: ranks of this communicator, which get ranks in this order.
  Result<std::unique_ptr<CommunicatorState>> split_members(std::span<const int> members);
  Cost cost();
  void abort(std::string_view reason);
  Status health() const;
  Status close();
  // Readable once operations have ended; see Communicator.
  Result<int> event_descriptor();
  // What was refused when it was to be started has ended, for those who poll.
  void announce_refusal();
  // Whether this is a child that the process which made this has forked: then it must not even be destroyed.
  bool forked() const { return mark_.forked(); }

  // One round over everything that is in flight here. True if anything moved.
  bool drive_guarded();

 private:
  CommunicatorState(Runtime* runtime, CommunicatorKey key, std::vector<int> members, int rank);
  // Made when a call is planned first: groups may be many and are not all used.
  Result<Planner*> planner();
  static Status another_splits(std::string_view call);
  Result<std::uint32_t> agree_on_id(std::span<const int> members);
  Status wait_for_members(std::vector<int> ranks, const Member::Joining& own, base::Deadline deadline);
  Status other_members(int other, const Member::Joining& theirs, const Member::Joining& own) const;
  Status missing_members(const std::vector<int>& missing) const;
  Status late_members(const std::vector<int>& missing, const Member::Joining& own);

  // Progress::Driven
  bool drive() override;
  bool tend() override;
  void tell() override;
  bool in_flight() const override { return running() > 0; }

  // LaneDirectory
  std::uint16_t lane(int peer, int channel) override;
  std::uint32_t slices(std::uint16_t lane, std::uint64_t bytes) const override;

  // During set-up.
  struct OpenedLane {
    std::unique_ptr<transports::Endpoint> endpoint;
    std::size_t slice;
  };
  Result<OpenedLane> open_lane(int peer, int channel);

  // A message that is not the expected one, or a peer that left, is an error of its own if asking has not explained it
  // by now.
  static constexpr double kGraceMs = 60;

  // Of a wait since things last moved.
  struct Idle {
    bool asks(double idle_ms) const;  // whether it is time to ask the peers what they called
    void asked(double idle_ms);

    double next_ask_ms = 0;
    double end_seen_ms = -1;  // when a lane was first found at its end; -1: none was
  };
  struct Waiting {
    explicit Waiting(Crowding& crowding) : patience(crowding) {}
    Patience patience;
    std::uint64_t seen = 0;  // movements of the engine
    Idle idle;               // while the wait rests
  };

  struct Slot {
    ActiveOperation operation;
    CallRecord record;
    std::uint32_t ticket = 0;
    const void* thread = nullptr;  // whose work list it is in; null: in none
    bool cancelled = false;
    int timeout_ms = 0;                       // 0: the communicator's
    std::optional<Waiting> waiting;           // of a wait_for() that gave up
    std::unique_ptr<std::byte[]> multiplied;  // the input of a pre_mul_sum, where out cannot hold it
    bool is_message = false;
    MessageRequest message;  // if so; it is done when operation.channels_left is 0
  };

  // Of a call that its operation does not tell all of.
  struct Special {
    const UserOperator* made = nullptr;  // what resolve() found
    const Purpose* purpose = nullptr;
  };

  Status begin(const Operation& operation, const Purpose* purpose, Slot** slot);
  Status begin_call(const Operation& operation, const Special* special, Slot** slot);
  Status resolve(Operation* operation, const UserOperator** made) const;
  Status multiply_input(const Operation& operation, const UserOperator& made, std::uint64_t bytes, const void** in,
                        std::unique_ptr<std::byte[]>* multiplied);
  KnownCall* find_uneven(const Operation& operation);
  Result<KnownCall*> learn(const Operation& operation);
  Status make_plan(const Operation& operation, const UserOperator* made, bool in_place, KnownCall& known);
  Slot& take_slot();
  Status finish(Slot& slot, Received* received = nullptr);
  Status wait(Slot& slot, Received* received = nullptr);
  bool wait_round(Slot& slot, Waiting& waiting);
  bool done(const Slot& slot);
  void give_up();
  Status in_child() const;
  Status busy() const;
  bool advance();
  void announce();
  // Of the calls in flight, or of the messages, the one that was started first; null: there is none.
  const Slot* oldest(bool message) const;
  Status look_around(const Slot& slot, double idle_ms, Idle& idle);
  const CallRecord& record_of(const ActiveOperation& operation) const;
  Status look_at_lane(const Slot& slot, const Blocked& blocked, double idle_ms, Idle& idle);
  static bool end_is_old(double idle_ms, Idle& idle);
  static std::string describe_slot(const Slot& slot);

  Status check_message(const Message& message) const;
  Status open_message_lanes(const Message& message);
  Status open_message_lane(int peer);
  Status begin(const Message& message, std::vector<std::byte>* object, Slot** slot);
  void withdraw_if_late(Slot& slot);
  Status look_at_message(const Slot& slot, double idle_ms, Idle& idle);
  Status look_at_peer(const Slot& slot, int peer, double idle_ms, Idle& idle);
  std::string where(const Slot& slot, int peer, double idle_ms) const;
  Status run_pack(std::span<const Operation* const> members);
  Status no_memory(std::uint64_t bytes);
  Status check_messages_taken();
  Status left_over(int peer, std::uint64_t messages);
  std::int32_t running() const { return engine_.running() + (messages_ != nullptr ? messages_->running() : 0); }
  std::uint64_t movements() const { return engine_.movements() + (messages_ != nullptr ? messages_->movements() : 0); }
  std::string where(const Slot& slot, const Blocked& blocked, double idle_ms) const;
  Status compare_digests();
  Status unread_message();

  std::unique_ptr<Runtime> owned_runtime_;  // the root's, or the last one's; destroyed last
  Runtime* runtime_;
  Member member_;
  std::unique_ptr<Planner> planner_;  // null: nothing was planned yet
  Engine engine_;
  Operators operators_;
  std::array<std::vector<std::byte>, 2> packed_;  // short operations of a list: in, and out where it is not the same
  std::unique_ptr<Messages> messages_;            // from the first message on
  PlanCache plans_;
  std::vector<std::uint64_t> blocks_;  // of the v-variant being looked up
  Crowding crowding_;
  std::uint32_t sequence_ = 0;
  std::uint64_t digest_ = 0;                  // of all calls so far
  std::vector<std::unique_ptr<Slot>> slots_;  // by ticket
  std::vector<std::uint32_t> free_;
  std::shared_ptr<const void> alive_ = std::make_shared<char>();  // for work lists of threads
  std::vector<std::uint16_t> lanes_;                              // by channel * size + peer; kNoLane: not opened
  Status lane_error_;                                             // of the last lane() that failed
  bool given_up_ = false;                                         // the engine was cancelled after a fault
  Idle idle_;                                                     // of the present wait
  std::atomic<bool> waits_ = false;                               // a thread does
  base::ForkMark mark_;
  base::FileDescriptor event_;
  // Where nobody waits, the helper thread looks around for those who poll `event_`.
  struct Tended {
    std::uint64_t seen = 0;  // movements and beginnings
    std::chrono::steady_clock::time_point since;
    double next_look_ms = 0;
    std::array<Idle, 2> idle;  // of calls, of messages
  };
  // What tend() found wrong, for tell().
  struct Complaint {
    Status wrong;
    std::uint32_t sequence = 0;  // of the call; 0: a message
  };
  Tended tended_;
  Complaint complaint_;        // the helper thread's alone
  std::uint64_t started_ = 0;  // calls and messages
};

}  // namespace weft::comm
