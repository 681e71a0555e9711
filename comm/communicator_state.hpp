// CommunicatorState: what a Communicator owns: its ranks, its engine, its plans and its first error.
//
// Reading order: run() -> begin() -> make_plan() (on a miss) -> Engine; wait() when it does not finish at once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/control.hpp"
#include "comm/engine.hpp"
#include "comm/messages/messages.hpp"
#include "comm/patience.hpp"
#include "comm/plan_cache.hpp"
#include "comm/planner.hpp"
#include "comm/runtime.hpp"
#include "weft/communicator.hpp"

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
  std::string_view transport(int peer) const { return runtime_->transport_name(member_.root_rank(peer)); }

  Status run(const Operation& operation);
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
  // Messages: comm/communicator_messages.cpp. `object`: of a receive of any length.
  Result<Received> run(const Message& message, std::vector<std::byte>* object = nullptr);
  Status start(const Message& message, std::uint32_t* ticket);
  Status run(std::span<const Message> messages, std::span<Received> received);

  // comm/operation_list.cpp
  Status run(std::span<const Operation> operations);

  // comm/objects.cpp
  Status broadcast_object(std::vector<std::byte>* object, int root);
  Status all_gather_objects(std::span<const std::byte> object, std::vector<std::vector<std::byte>>* objects);

  Result<Choice> explain(const Operation& operation) const {
    return planner_->choose(operation, algorithms::Detail::Everything);
  }

  Result<std::unique_ptr<CommunicatorState>> split(int color, int key);
  void abort(std::string_view reason);
  Status health() const { return member_.faults.status(); }
  Status close();

  // One round over everything that is in flight here. True if anything moved.
  bool drive_guarded();

 private:
  CommunicatorState(Runtime* runtime, CommunicatorKey key, std::vector<int> members, int rank,
                    std::unique_ptr<Planner> planner);
  static Result<std::unique_ptr<CommunicatorState>> make(Runtime* runtime, CommunicatorKey key,
                                                         std::vector<int> members, int rank);

  // Progress::Driven
  bool drive() override;
  bool in_flight() const override {
    return engine_.running() > 0 || (messages_ != nullptr && messages_->running() > 0);
  }

  // LaneDirectory
  std::uint16_t lane(int peer, int channel) override;
  std::uint32_t slices(std::uint16_t lane, std::uint64_t bytes) const override;

  // Of a wait since things last moved.
  struct Idle {
    double next_ask_ms = 0;
    double end_seen_ms = -1;  // when a lane was first found at its end; -1: none was
  };
  struct Waiting {
    explicit Waiting(bool oversubscribed) : patience(oversubscribed) {}
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
    bool is_message = false;
    MessageRequest message;          // if so; it is done when operation.channels_left is 0
    std::optional<Waiting> waiting;  // of a wait_for() that gave up
  };

  Status begin(const Operation& operation, Slot** slot);
  KnownCall* find_uneven(const Operation& operation);
  Result<KnownCall*> learn(const Operation& operation);
  Status make_plan(const Operation& operation, bool in_place, KnownCall& known);
  Slot& take_slot();
  Status finish(Slot& slot, Received* received = nullptr);
  Status wait(Slot& slot, Received* received = nullptr);
  bool wait_round(Slot& slot, Waiting& waiting);
  bool done(const Slot& slot);
  void give_up();
  Status look_around(const Slot& slot, double idle_ms);
  const CallRecord& record_of(const ActiveOperation& operation) const;
  Status look_at_lane(const Slot& slot, const Blocked& blocked, double idle_ms);
  static std::string describe_slot(const Slot& slot);

  Status check_message(const Message& message) const;
  Status open_message_lanes(const Message& message);
  Status begin(const Message& message, std::vector<std::byte>* object, Slot** slot);
  void withdraw_if_late(Slot& slot);
  Status look_at_message(const Slot& slot, double idle_ms);
  Status look_at_peer(const Slot& slot, int peer, double idle_ms);
  std::string where(const Slot& slot, int peer, double idle_ms) const;
  Status run_pack(std::span<const Operation* const> members);
  Status no_memory(std::uint64_t bytes);
  Status check_messages_taken();
  Status left_over(int peer, std::uint64_t messages);
  std::uint64_t movements() const { return engine_.movements() + (messages_ != nullptr ? messages_->movements() : 0); }
  bool end_is_old(double idle_ms);
  std::string where(const Slot& slot, const Blocked& blocked, double idle_ms) const;
  Status compare_digests();
  Status unread_message();

  std::unique_ptr<Runtime> owned_runtime_;  // the root's; destroyed last
  Runtime* runtime_;
  Member member_;
  std::unique_ptr<Planner> planner_;
  Engine engine_;
  std::array<std::vector<std::byte>, 2> packed_;  // short operations of a list: in, and out where it is not the same
  std::unique_ptr<Messages> messages_;            // from the first message on
  PlanCache plans_;
  std::vector<std::uint64_t> blocks_;  // of the v-variant being looked up
  bool oversubscribed_;                // more ranks than cores on this host
  std::uint32_t sequence_ = 0;
  std::uint64_t digest_ = 0;                  // of all calls so far
  std::vector<std::unique_ptr<Slot>> slots_;  // by ticket
  std::vector<std::uint32_t> free_;
  std::shared_ptr<const void> alive_ = std::make_shared<char>();  // for work lists of threads
  std::vector<std::uint16_t> lanes_;                              // by channel * size + peer; kNoLane: not opened
  Status lane_error_;                                             // of the last lane() that failed
  bool given_up_ = false;                                         // the engine was cancelled after a fault
  Idle idle_;                                                     // of the present wait
};

}  // namespace weft::comm
