// The walk of a call: begin, drive, wait, finish; and the lanes that plans are bound to.
#include "comm/communicator_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/assert.hpp"
#include "base/deadline.hpp"
#include "comm/blocks.hpp"
#include "comm/check.hpp"
#include "comm/mix.hpp"
#include "comm/thread_work.hpp"

namespace weft::comm {
namespace {

// Longest message of a lane: small enough that a fused step overlaps its receive with its send, and that others may go
// between the parts of a long one.
constexpr std::size_t kMaxSlice = std::size_t{256} << 10;

constexpr int kCancelDeadlineMs = 2000;
constexpr int kCancelLeastMs = 1000;

// Also when memory runs out: a wait that has ended makes nobody busy.
class WaitsNow final {
 public:
  explicit WaitsNow(std::atomic<bool>& waits) : waits_(waits) { waits_.store(true, std::memory_order_relaxed); }
  ~WaitsNow() { waits_.store(false, std::memory_order_relaxed); }
  WaitsNow(const WaitsNow&) = delete;
  WaitsNow& operator=(const WaitsNow&) = delete;

 private:
  std::atomic<bool>& waits_;
};

std::uint64_t hash_of(const std::vector<std::uint64_t>& values) {
  std::uint64_t hash = values.size();
  for (const std::uint64_t value : values) hash = mix(hash, value);
  return hash;
}

}  // namespace

CommunicatorState::CommunicatorState(Runtime* runtime, CommunicatorKey key, std::vector<int> members, int rank)
    : runtime_(runtime), member_(key, std::move(members), rank), crowding_(runtime->oversubscribed()) {
  ++runtime_->communicators;
  runtime_->control().add(member_);
  const auto guard = runtime_->progress().guard();
  runtime_->progress().add(*this);
}

Result<std::unique_ptr<CommunicatorState>> CommunicatorState::root(std::unique_ptr<Runtime> runtime) {
  std::vector<int> members(static_cast<std::size_t>(runtime->size()));
  for (std::size_t rank = 0; rank < members.size(); ++rank) members[rank] = static_cast<int>(rank);
  std::unique_ptr<CommunicatorState> state(
      new CommunicatorState(runtime.get(), {0, 0}, std::move(members), runtime->rank()));
  state->owned_runtime_ = std::move(runtime);
  // Settings that make no sense are found now, by all ranks.
  const auto setup = state->runtime_->setup();
  WEFT_TRY(state->planner().status());
  return state;
}

CommunicatorState::~CommunicatorState() {
  // The outcome of an operation that nobody waited for is in health().
  for (const auto& slot : slots_) {
    if (!done(*slot)) static_cast<void>(wait(*slot).ok());
  }
  {
    auto guard = runtime_->progress().guard();
    runtime_->progress().remove(*this, guard);
  }
  runtime_->control().remove(member_);
  runtime_->retire(member_.key());
  {
    const auto setup = runtime_->setup();
    planner_.reset();  // and its lease of a model that others share
  }
  // Communicators that are split off may end after this one; the last of all takes the runtime along.
  const bool last = --runtime_->communicators == 0;
  if (!last && owned_runtime_ != nullptr) runtime_->bereaved = std::move(owned_runtime_);
  if (last && runtime_->bereaved != nullptr) owned_runtime_ = std::move(runtime_->bereaved);
}

// During set-up.
Result<Planner*> CommunicatorState::planner() {
  if (planner_ != nullptr) return planner_.get();
  std::vector<int> placement;
  for (int rank = 0; rank < size(); ++rank)
    placement.push_back(runtime_->placement()[static_cast<std::size_t>(member_.root_rank(rank))]);
  const Agreement& agreement = runtime_->agreement();
  WEFT_TRY_ASSIGN(auto model, runtime_->models().take(agreement.graph, placement, runtime_->table()));
  WEFT_TRY_ASSIGN(planner_, Planner::create(std::move(model), agreement.algorithms, agreement.channels,
                                            agreement.numerics, runtime_->table(), &runtime_->schedules()));
  return planner_.get();
}

// ---- the walk of a call ----

Status CommunicatorState::run(const Operation& operation, int timeout_ms, const Purpose* purpose) {
  if (forked()) [[unlikely]]
    return in_child();
  auto guard = runtime_->progress().guard();
  Slot* slot = nullptr;
  WEFT_TRY(begin(operation, purpose, &slot));
  slot->timeout_ms = timeout_ms;
  for (EagerRounds rounds(crowding_); rounds.next();) {
    runtime_->poll();
    advance();
    if (slot->operation.channels_left == 0) return finish(*slot);
  }
  if (guard.owns_lock()) guard.unlock();
  return wait(*slot);
}

Status CommunicatorState::start(const Operation& operation, std::uint32_t* ticket) {
  if (forked()) [[unlikely]]
    return in_child();
  const auto guard = runtime_->progress().guard();
  Slot* slot = nullptr;
  WEFT_TRY(begin(operation, nullptr, &slot));
  *ticket = slot->ticket;
  runtime_->poll();
  advance();
  if (slot->operation.channels_left == 0) return {};
  slot->thread = this_thread_work();
  enter_thread_work(this, alive_);
  runtime_->progress().wake();
  return {};
}

// Checks, plans and publishes the call, and hands it to the engine.
Status CommunicatorState::begin(const Operation& operation, const Purpose* purpose, Slot** started) {
  // First: who waits gives up by itself.
  if (waits_.load(std::memory_order_relaxed)) [[unlikely]]
    return busy();
  if (member_.faults.raised()) [[unlikely]] {
    give_up();
    return member_.faults.status();
  }
  const bool made = operation.op >= ReduceOp::PreMulSum && reduces(operation.collective);
  if (!made && purpose == nullptr) [[likely]]
    return begin_call(operation, nullptr, started);
  Operation resolved = operation;
  Special special{.purpose = purpose};
  WEFT_TRY(resolve(&resolved, &special.made));
  return begin_call(resolved, &special, started);
}

Status CommunicatorState::begin_call(const Operation& operation, const Special* special, Slot** started) {
  const bool on_host = operation.memory == MemoryKind::Host && operation.stream == nullptr;
  KnownCall* known = nullptr;
  if (on_host) known = operation.uneven ? find_uneven(operation) : plans_.find(PlanKey(operation));
  if (known == nullptr) [[unlikely]] {
    WEFT_TRY_ASSIGN(known, learn(operation));
  }
  if (!known->footprint.fits(operation.in, operation.out)) [[unlikely]]
    return check(operation, rank(), size());
  bool in_place = known->footprint.in_place(operation.in, operation.out);
  const UserOperator* const made = special == nullptr ? nullptr : special->made;
  // Its input is multiplied into the output, or elsewhere.
  if (made != nullptr && made->pre_mul_sum) in_place = operation.collective == Collective::AllReduce;
  if (known->plans[in_place] == nullptr) [[unlikely]] {
    WEFT_TRY(make_plan(operation, made, in_place, *known));
  }
  BoundPlan* const plan = known->plans[in_place].get();
  const void* in = operation.in;
  std::unique_ptr<std::byte[]> multiplied;
  CallRecord record{0, plan->call, operation.root, plan->count, plan->hash};
  if (special != nullptr) [[unlikely]] {
    if (made != nullptr && made->pre_mul_sum)
      WEFT_TRY(multiply_input(operation, *made, known->footprint.in_bytes, &in, &multiplied));
    if (special->purpose != nullptr) {
      record = with_purpose(record, *special->purpose);
      if (made != nullptr) member_.name_operator(record.hash, made->describe());
    }
  }
  Slot& slot = take_slot();
  slot.multiplied = std::move(multiplied);
  record.sequence = ++sequence_;
  slot.record = record;
  digest_ = (digest_ ^ record.hash ^ record.call) * 0x9e3779b97f4a7c15;
  member_.history.publish(slot.record);
  slot.operation.plan = plan;
  slot.operation.in = static_cast<const std::byte*>(in);
  slot.operation.out = static_cast<std::byte*>(operation.out);
  slot.operation.signature = {record.sequence, record.call, record.hash};
  engine_.start(slot.operation);
  *started = &slot;
  return {};
}

// Puts what the program made in the place of its handle.
Status CommunicatorState::resolve(Operation* operation, const UserOperator** made) const {
  if (operation->op < ReduceOp::PreMulSum || !reduces(operation->collective)) return {};
  if (static_cast<int>(operation->op) < kFirstUserOp) {
    return Status(Code::InvalidArgument,
                  fmt::format("{}: {} must be made for the communicator first: create_pre_mul_sum(), create_operator()",
                              name_of(*operation), to_string(operation->op)));
  }
  WEFT_TRY(operators_.check(*operation));
  *made = operators_.find(operation->op);
  // Plans do not depend on the factor.
  if ((*made)->pre_mul_sum) operation->op = ReduceOp::PreMulSum;
  return {};
}

// Into the output where that holds as much, and is reduced in place then; else into memory of its own.
Status CommunicatorState::multiply_input(const Operation& operation, const UserOperator& made, std::uint64_t bytes,
                                         const void** in, std::unique_ptr<std::byte[]>* multiplied) {
  if (bytes == 0) return {};
  void* to = operation.out;
  if (operation.collective != Collective::AllReduce) {
    multiplied->reset(new (std::nothrow) std::byte[bytes]);
    if (*multiplied == nullptr) {
      // Peers know nothing of a call that is never made here: they must be told.
      Status none(Code::ResourceExhausted,
                  fmt::format("{}: no memory for the {} bytes of its input, multiplied", name_of(operation), bytes));
      runtime_->control().fail(member_, none);
      return none;
    }
    to = multiplied->get();
  }
  multiply(to, *in, bytes / size_of(operation.dtype), operation.dtype, made.factor);
  *in = to;
  return {};
}

Status CommunicatorState::destroy_operator(ReduceOp op) {
  if (forked()) return in_child();
  if (waits_.load(std::memory_order_relaxed)) return busy();
  const auto guard = runtime_->progress().guard();
  if (operators_.find(op) != nullptr && !plans_.forget(op))
    return Status(Code::InvalidArgument, "destroy_operator: operations with it are in flight; wait for them first");
  return operators_.destroy(op);
}

// A v-variant is known by its blocks: equal ones were checked when they were learned.
KnownCall* CommunicatorState::find_uneven(const Operation& operation) {
  if (has_in_blocks(operation, rank()) && operation.in_blocks.counts == nullptr) return nullptr;
  if (has_out_blocks(operation, rank()) && operation.out_blocks.counts == nullptr) return nullptr;
  flat_blocks(operation, rank(), size(), &blocks_);
  return plans_.find(PlanKey(operation, hash_of(blocks_)), blocks_);
}

// A call that was not made before, or was forgotten.
Result<KnownCall*> CommunicatorState::learn(const Operation& operation) {
  WEFT_TRY(check_call(operation, rank(), size()));
  if (operation.uneven) flat_blocks(operation, rank(), size(), &blocks_);
  const PlanKey key(operation, operation.uneven ? hash_of(blocks_) : 0);
  KnownCall* const known = plans_.insert(key, footprint(operation, rank(), size()),
                                         operation.uneven ? blocks_ : std::vector<std::uint64_t>());
  if (known == nullptr) {
    return Status(
        Code::ResourceExhausted,
        fmt::format("too many different operations in flight; wait for some of them before starting another {}",
                    name_of(operation)));
  }
  return known;
}

Status CommunicatorState::make_plan(const Operation& operation, const UserOperator* made, bool in_place,
                                    KnownCall& known) {
  lane_error_ = Status();
  auto setup = runtime_->setup();
  WEFT_TRY_ASSIGN(Planner* const planner, this->planner());
  WEFT_TRY_ASSIGN(auto plan, planner->plan(operation, made, in_place, rank(), *this));
  // Peers know nothing of a call that is never made here: they must be told.
  Status usable = lane_error_.ok() ? engine_.prepare(*plan) : lane_error_;
  setup.unlock();
  if (!usable.ok()) {
    runtime_->control().fail(member_, usable);
    return usable;
  }
  runtime_->log().debug("plans {} of {} {}{}: {}", name_of(operation), plan->count, to_string(operation.dtype),
                        in_place ? " in place" : "", plan->choice.winner().algorithm);
  if (made != nullptr) member_.name_operator(plan->hash, made->describe());
  known.plans[in_place] = std::move(plan);
  return {};
}

CommunicatorState::Slot& CommunicatorState::take_slot() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->ticket = free_.back();
  }
  Slot& slot = *slots_[free_.back()];
  free_.pop_back();
  ++started_;
  slot.thread = nullptr;
  slot.cancelled = false;
  slot.is_message = false;
  slot.waiting.reset();
  slot.timeout_ms = 0;
  return slot;
}

// The outcome of an operation that is done; its slot is free again.
Status CommunicatorState::finish(Slot& slot, Received* received) {
  if (slot.thread != nullptr) leave_thread_work(this);
  slot.multiplied.reset();
  free_.push_back(slot.ticket);
  if (slot.cancelled) return member_.faults.status();
  if (!slot.is_message) return {};
  if (received != nullptr) *received = slot.message.received;
  return std::move(slot.message.outcome);
}

Status CommunicatorState::prepare(const Operation& asked) {
  if (forked()) return in_child();
  if (waits_.load(std::memory_order_relaxed)) return busy();
  const auto guard = runtime_->progress().guard();
  if (member_.faults.raised()) return member_.faults.status();
  Operation operation = asked;
  const UserOperator* made = nullptr;
  WEFT_TRY(resolve(&operation, &made));
  WEFT_TRY(check_call(operation, rank(), size()));
  KnownCall* known = operation.uneven ? find_uneven(operation) : plans_.find(PlanKey(operation));
  if (known == nullptr) {
    WEFT_TRY_ASSIGN(known, learn(operation));
  }
  for (const bool in_place : {false, true}) {
    if (known->plans[in_place] == nullptr) WEFT_TRY(make_plan(operation, made, in_place, *known));
  }
  return {};
}

Status CommunicatorState::set_algorithms(std::string_view rules) {
  if (forked()) return in_child();
  if (waits_.load(std::memory_order_relaxed)) return busy();
  const auto guard = runtime_->progress().guard();
  if (engine_.running() > 0)
    return Status(Code::InvalidArgument, "set_algorithms: operations are in flight; wait for them first");
  const auto setup = runtime_->setup();
  WEFT_TRY_ASSIGN(Planner* const planner, this->planner());
  WEFT_TRY(planner->set_overrides(rules));
  plans_.clear();
  return {};
}

Result<Choice> CommunicatorState::explain(const Operation& asked) {
  if (forked()) return in_child();
  Operation operation = asked;
  const UserOperator* made = nullptr;
  WEFT_TRY(resolve(&operation, &made));
  const auto setup = runtime_->setup();
  WEFT_TRY_ASSIGN(Planner* const planner, this->planner());
  return planner->choose(operation, made, algorithms::Detail::Everything);
}

// ---- waiting ----

bool CommunicatorState::drive() {
  if (member_.faults.raised()) {
    const bool was_given_up = given_up_;
    give_up();
    return !was_given_up;
  }
  runtime_->poll();
  return advance();
}

bool CommunicatorState::advance() {
  const std::int32_t before = event_ ? running() : 0;
  const bool messages_moved = messages_ != nullptr && messages_->advance();
  const bool moved = engine_.advance() || messages_moved;
  if (event_ && running() < before) announce();
  return moved;
}

bool CommunicatorState::drive_guarded() {
  const auto guard = runtime_->progress().guard();
  return drive();
}

bool CommunicatorState::started_here(std::uint32_t ticket) const {
  const Slot& slot = *slots_[ticket];
  return slot.thread == nullptr || slot.thread == this_thread_work();
}

Status CommunicatorState::wait(std::uint32_t ticket, Received* received) {
  if (forked()) return in_child();
  if (started_here(ticket)) return wait(*slots_[ticket], received);
  return Status(Code::InvalidArgument,
                fmt::format("wait: another thread started {}; wait for it there", describe_slot(*slots_[ticket])));
}

Status CommunicatorState::wait(Slot& slot, Received* received) {
  Waiting waiting(crowding_);
  idle_ = {};
  {
    const WaitsNow now(waits_);
    while (!wait_round(slot, waiting)) {
    }
  }
  const auto guard = runtime_->progress().guard();
  return finish(slot, received);
}

// What was found out about a wait that gave up counts in the next one: many short waits are as strict as a long one.
bool CommunicatorState::wait_for(std::uint32_t ticket, int timeout_ms) {
  if (forked() || !started_here(ticket)) return true;  // wait() returns at once and says so
  Slot& slot = *slots_[ticket];
  if (!slot.waiting) slot.waiting.emplace(crowding_);
  Waiting& waiting = *slot.waiting;
  waiting.patience.resume();
  idle_ = waiting.idle;
  const auto deadline = base::Deadline::after_ms(timeout_ms);
  const auto wait_until = [&] {
    const WaitsNow now(waits_);
    while (!wait_round(slot, waiting)) {
      if (deadline.passed()) return false;
    }
    return true;
  };
  const bool done = wait_until();
  waiting.idle = idle_;
  waiting.patience.rest();
  return done;
}

// True when the operation is done; else things were moved on, or there was a pause.
bool CommunicatorState::wait_round(Slot& slot, Waiting& waiting) {
  bool moved = false;
  {
    const auto guard = runtime_->progress().guard();
    if (slot.operation.channels_left == 0) return true;
    // The helper thread may have moved it, too.
    moved = drive() || movements() != waiting.seen;
    waiting.seen = movements();
    if (slot.is_message && slot.message.deadline) withdraw_if_late(slot);
    if (slot.operation.channels_left == 0) return true;
  }
  if (other_thread_work(this)) moved = drive_thread_work() || moved;
  if (moved) {
    waiting.patience.reset();
    idle_ = {};
  } else if (waiting.patience.pause()) {
    const Status wrong = [&] {
      const auto guard = runtime_->progress().guard();
      return look_around(slot, waiting.patience.idle_ms(), idle_);
    }();
    // Outside the guard: finding out whom to blame takes a while, in which the helper thread drives the others.
    if (!wrong.ok()) runtime_->control().fail(member_, wrong, slot.record.sequence);
  }
  return false;
}

bool CommunicatorState::done(const Slot& slot) {
  const auto guard = runtime_->progress().guard();
  return slot.operation.channels_left == 0;
}

bool CommunicatorState::test(std::uint32_t ticket) {
  if (forked() || !started_here(ticket)) return true;  // wait() returns at once and says so
  const auto guard = runtime_->progress().guard();
  const Slot& slot = *slots_[ticket];
  if (slot.operation.channels_left > 0) drive();
  return slot.operation.channels_left == 0;
}

void CommunicatorState::give_up() {
  if (given_up_) return;
  given_up_ = true;
  for (const auto& slot : slots_) slot->cancelled = slot->operation.channels_left > 0;
  const bool ends_some = running() > 0;
  const auto deadline = base::Deadline::after_ms(kCancelDeadlineMs);  // of all lanes together
  engine_.cancel(deadline.remaining_ms());
  if (messages_ != nullptr) {
    // A lane whose transport has no time to end must stop all others of its transport, so messages have some left.
    messages_->cancel(std::max(deadline.remaining_ms(), kCancelLeastMs));
    for (const auto& slot : slots_)
      if (slot->is_message) slot->operation.channels_left = 0;
  }
  if (event_ && ends_some) announce();
}

// ---- lanes ----

std::uint16_t CommunicatorState::lane(int peer, int channel) {
  const auto index =
      static_cast<std::size_t>(channel) * static_cast<std::size_t>(size()) + static_cast<std::size_t>(peer);
  if (lanes_.size() <= index)
    lanes_.resize((static_cast<std::size_t>(channel) + 1) * static_cast<std::size_t>(size()), kNoLane);
  if (lanes_[index] != kNoLane) return lanes_[index];
  Result<OpenedLane> opened = open_lane(peer, channel);
  if (!opened.has_value()) {
    if (lane_error_.ok()) lane_error_ = std::move(opened).error();
    return 0;
  }
  lanes_[index] = engine_.add_lane(std::move(opened->endpoint), peer, opened->slice);
  return lanes_[index];
}

Result<CommunicatorState::OpenedLane> CommunicatorState::open_lane(int peer, int channel) {
  const int root_rank = member_.root_rank(peer);
  const auto number = std::uint64_t{member_.key().id} << kChannelBits | static_cast<std::uint64_t>(channel);
  const Result<transports::Connection*> connection = runtime_->connection(root_rank);
  Result<std::unique_ptr<transports::Endpoint>> endpoint =
      connection.has_value() ? (*connection)->open_lane(number) : connection.error();
  if (!endpoint.has_value())
    return std::move(endpoint).error().with_context(fmt::format("connecting rank {} to rank {}", rank(), peer));
  return OpenedLane{std::move(*endpoint), std::min(kMaxSlice, runtime_->transport(root_rank)->max_message())};
}

std::uint32_t CommunicatorState::slices(std::uint16_t lane, std::uint64_t bytes) const {
  if (lane >= engine_.lanes()) return 1;  // it could not be opened: the plan will not be used
  return engine_.lane(lane).slices(bytes);
}

}  // namespace weft::comm
