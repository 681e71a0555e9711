// The public face: Communicator, Work and Plan forward to the state.
#include "weft/communicator.hpp"

#include <algorithm>
#include <string>

#include "comm/blocks.hpp"
#include "comm/check.hpp"
#include "comm/communicator_state.hpp"
#include "comm/create.hpp"
#include "comm/symmetric.hpp"

namespace weft {

Communicator::Communicator(std::unique_ptr<comm::CommunicatorState> state) : state_(std::move(state)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this != &other) {
    const Communicator ended(std::move(*this));
    state_ = std::move(other.state_);
  }
  return *this;
}
// In a forked child the threads and the memory behind it are the parent's.
Communicator::~Communicator() {
  if (state_ != nullptr && state_->forked()) static_cast<void>(state_.release());
}

Result<Communicator> Communicator::create(const Options& options) {
  WEFT_TRY_ASSIGN(auto state, comm::create(options));
  return Communicator(std::move(state));
}

int Communicator::rank() const { return state_->rank(); }
int Communicator::size() const { return state_->size(); }
Status Communicator::run(const Operation& operation) { return state_->run(operation); }

Status Communicator::run(const Operation& operation, int timeout_ms) {
  if (timeout_ms < 1) {
    WEFT_TRY(health());
    return Status(Code::InvalidArgument, "run: timeout_ms is " + std::to_string(timeout_ms) + "; give 1 or more");
  }
  return state_->run(operation, timeout_ms);
}
Status Communicator::run(std::span<const Operation> operations) { return state_->run(operations); }

Work Communicator::start(const Operation& operation) {
  std::uint32_t ticket = 0;
  Status status = state_->start(operation, &ticket);
  if (!status.ok()) {
    state_->announce_refusal();
    return Work(std::move(status));
  }
  return Work(state_.get(), ticket);
}

Result<Plan> Communicator::prepare(const Operation& operation) {
  WEFT_TRY(state_->prepare(operation));
  WEFT_TRY_ASSIGN(Choice choice, state_->explain(operation));
  return Plan(state_.get(), operation, size(), std::move(choice));
}

Result<Choice> Communicator::explain(const Operation& operation) const {
  WEFT_TRY(comm::check_call(operation, rank(), size()));
  return state_->explain(operation);
}

Status Communicator::all_reduce(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op) {
  return run(weft::all_reduce(in, out, count, dtype, op));
}
Status Communicator::all_gather(const void* in, void* out, std::uint64_t count, DataType dtype) {
  return run(weft::all_gather(in, out, count, dtype));
}
Status Communicator::reduce_scatter(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op) {
  return run(weft::reduce_scatter(in, out, count, dtype, op));
}
Status Communicator::all_to_all(const void* in, void* out, std::uint64_t count, DataType dtype) {
  return run(weft::all_to_all(in, out, count, dtype));
}
Status Communicator::broadcast(const void* in, void* out, std::uint64_t count, DataType dtype, int root) {
  return run(weft::broadcast(in, out, count, dtype, root));
}
Status Communicator::reduce(const void* in, void* out, std::uint64_t count, DataType dtype, ReduceOp op, int root) {
  return run(weft::reduce(in, out, count, dtype, op, root));
}
Status Communicator::gather(const void* in, void* out, std::uint64_t count, DataType dtype, int root) {
  return run(weft::gather(in, out, count, dtype, root));
}
Status Communicator::scatter(const void* in, void* out, std::uint64_t count, DataType dtype, int root) {
  return run(weft::scatter(in, out, count, dtype, root));
}
Status Communicator::all_gather_v(const void* in, void* out, const Blocks& out_blocks, DataType dtype) {
  return run(weft::all_gather_v(in, out, out_blocks, dtype));
}
Status Communicator::reduce_scatter_v(const void* in, const Blocks& in_blocks, void* out, DataType dtype, ReduceOp op) {
  return run(weft::reduce_scatter_v(in, in_blocks, out, dtype, op));
}
Status Communicator::all_to_all_v(const void* in, const Blocks& in_blocks, void* out, const Blocks& out_blocks,
                                  DataType dtype) {
  return run(weft::all_to_all_v(in, in_blocks, out, out_blocks, dtype));
}
Status Communicator::gather_v(const void* in, std::uint64_t count, void* out, const Blocks& out_blocks, DataType dtype,
                              int root) {
  return run(weft::gather_v(in, count, out, out_blocks, dtype, root));
}
Status Communicator::scatter_v(const void* in, const Blocks& in_blocks, void* out, std::uint64_t count, DataType dtype,
                               int root) {
  return run(weft::scatter_v(in, in_blocks, out, count, dtype, root));
}
Status Communicator::barrier() { return run(weft::barrier()); }

Result<Received> Communicator::run(const Message& message) { return state_->run(message); }

Work Communicator::start(const Message& message) {
  std::uint32_t ticket = 0;
  Status status = state_->start(message, &ticket);
  if (!status.ok()) {
    state_->announce_refusal();
    return Work(std::move(status));
  }
  return Work(state_.get(), ticket);
}

Status Communicator::run(std::span<const Message> messages, std::span<Received> received) {
  return state_->run(messages, received);
}

Status Communicator::send(const void* in, std::uint64_t count, DataType dtype, int peer, int tag) {
  return run(weft::send(in, count, dtype, peer, tag)).status();
}
Result<Received> Communicator::receive(void* out, std::uint64_t count, DataType dtype, int peer, int tag) {
  return run(weft::receive(out, count, dtype, peer, tag));
}
Result<Received> Communicator::receive(std::vector<std::byte>* object, int peer, int tag, int timeout_ms) {
  if (object == nullptr) {
    WEFT_TRY(health());
    return Status(Code::InvalidArgument, "receive: object is null; give a vector, which is resized as needed");
  }
  Message message = weft::receive(nullptr, 0, DataType::UInt8, peer, tag);
  message.timeout_ms = timeout_ms;
  return state_->run(message, object);
}

Status Communicator::send(std::span<const std::byte> object, int peer, int tag) {
  return run(weft::send(object.data(), object.size(), DataType::UInt8, peer, tag)).status();
}
Status Communicator::broadcast(std::vector<std::byte>* object, int root) {
  return state_->broadcast_object(object, root);
}
Status Communicator::all_gather(std::span<const std::byte> object, std::vector<std::vector<std::byte>>* objects) {
  return state_->all_gather_objects(object, objects);
}

Status Communicator::set_algorithms(std::string_view rules) { return state_->set_algorithms(rules); }

Result<SymmetricMemory> Communicator::allocate(std::size_t bytes) {
  WEFT_TRY_ASSIGN(auto allocation, comm::SymmetricAllocation::create(*state_, bytes));
  return SymmetricMemory(std::move(allocation));
}
Status Communicator::free(SymmetricMemory memory) {
  WEFT_TRY(health());
  if (memory.allocation_ == nullptr) return {Code::InvalidArgument, "free: there is no symmetric memory to free"};
  return memory.allocation_->release(*state_);
}

SymmetricMemory::SymmetricMemory() = default;
SymmetricMemory::SymmetricMemory(SymmetricMemory&&) noexcept = default;
SymmetricMemory& SymmetricMemory::operator=(SymmetricMemory&&) noexcept = default;
SymmetricMemory::~SymmetricMemory() = default;
SymmetricMemory::SymmetricMemory(std::unique_ptr<comm::SymmetricAllocation> allocation)
    : allocation_(std::move(allocation)) {}
std::byte* SymmetricMemory::data() const { return allocation_ == nullptr ? nullptr : allocation_->data(); }
std::size_t SymmetricMemory::bytes() const { return allocation_ == nullptr ? 0 : allocation_->bytes(); }
int SymmetricMemory::readers() const { return allocation_ == nullptr ? 0 : allocation_->readers(); }
std::string_view SymmetricMemory::reason() const {
  return allocation_ == nullptr ? std::string_view() : allocation_->reason();
}

Result<Communicator> Communicator::split(int color, int key) {
  WEFT_TRY_ASSIGN(auto state, state_->split(color, key));
  return Communicator(std::move(state));
}

Result<ReduceOp> Communicator::create_operator(const Operator& definition) {
  if (state_->forked()) return state_->health();
  return state_->operators().create(definition);
}
Result<ReduceOp> Communicator::create_pre_mul_sum(DataType dtype, double factor) {
  if (state_->forked()) return state_->health();
  return state_->operators().create_pre_mul_sum(dtype, factor);
}
Status Communicator::destroy_operator(ReduceOp op) { return state_->destroy_operator(op); }

Result<Communicator> Communicator::split_members(const std::vector<int>& members) {
  WEFT_TRY_ASSIGN(auto state, state_->split_members(members));
  return Communicator(std::move(state));
}

Cost Communicator::cost() const { return state_->cost(); }

void Communicator::abort(std::string_view reason) { state_->abort(reason); }
Status Communicator::health() const { return state_->health(); }
Status Communicator::close() { return state_->close(); }
Result<int> Communicator::event_descriptor() { return state_->event_descriptor(); }
std::string_view Communicator::transport(int peer) const { return state_->transport(peer); }
std::string Communicator::topology_fingerprint() const {
  return topology::fingerprint(state_->runtime().agreement().graph);
}
std::string_view Communicator::source() const { return state_->runtime().options().source; }

Work::Work(Status failed) : failed_(std::move(failed)) {}

Work::Work(Work&& other) noexcept
    : communicator_(std::exchange(other.communicator_, nullptr)),
      ticket_(other.ticket_),
      failed_(std::move(other.failed_)),
      received_(other.received_) {}

Work& Work::operator=(Work&& other) noexcept {
  if (this != &other) {
    static_cast<void>(wait().ok());
    communicator_ = std::exchange(other.communicator_, nullptr);
    ticket_ = other.ticket_;
    failed_ = std::move(other.failed_);
    received_ = other.received_;
  }
  return *this;
}

Work::~Work() { static_cast<void>(wait().ok()); }

Status Work::wait() {
  if (communicator_ == nullptr) return failed_;
  if (!communicator_->started_here(ticket_)) return communicator_->wait(ticket_);  // an error; nothing is lost
  failed_ = std::exchange(communicator_, nullptr)->wait(ticket_, &received_);
  return failed_;
}

bool Work::wait_for(int timeout_ms) { return communicator_ == nullptr || communicator_->wait_for(ticket_, timeout_ms); }

bool Work::test() { return communicator_ == nullptr || communicator_->test(ticket_); }

// The caller's arrays are only lent for the call.
Plan::Plan(comm::CommunicatorState* communicator, const Operation& operation, int size, Choice choice)
    : communicator_(communicator), operation_(operation), choice_(std::move(choice)) {
  if (!operation.uneven) return;
  if (!comm::has_in_blocks(operation, communicator->rank())) operation_.in_blocks = {};
  if (!comm::has_out_blocks(operation, communicator->rank())) operation_.out_blocks = {};
  for (const std::uint64_t** row : {&operation_.in_blocks.counts, &operation_.in_blocks.offsets,
                                    &operation_.out_blocks.counts, &operation_.out_blocks.offsets}) {
    if (*row == nullptr) continue;
    rows_.push_back(std::make_unique<std::uint64_t[]>(static_cast<std::size_t>(size)));
    std::copy(*row, *row + size, rows_.back().get());
    *row = rows_.back().get();
  }
}

Status Plan::run(const void* in, void* out) {
  operation_.in = in;
  operation_.out = out;
  return communicator_->run(operation_);
}

Work Plan::start(const void* in, void* out) {
  operation_.in = in;
  operation_.out = out;
  std::uint32_t ticket = 0;
  Status status = communicator_->start(operation_, &ticket);
  if (!status.ok()) {
    communicator_->announce_refusal();
    return Work(std::move(status));
  }
  return Work(communicator_, ticket);
}

const Choice& Plan::choice() const { return choice_; }

}  // namespace weft
