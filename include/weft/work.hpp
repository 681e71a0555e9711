// Work: an operation in flight. Plan: an operation prepared once and run many times.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "weft/choice.hpp"
#include "weft/message.hpp"
#include "weft/operation.hpp"
#include "weft/status.hpp"

namespace weft {

namespace comm {
class CommunicatorState;
struct BoundPlan;
}  // namespace comm

// Waited for on the thread that started it: elsewhere wait() is InvalidArgument at once, test() is true, and the
// operation goes on until its own thread waits for it or its communicator is destroyed. Buffers stay the operation's
// until wait() returns or test() says done. Destroying an unfinished Work, or assigning to it, waits for it, with the
// communicator's deadline, and drops the outcome (Communicator::health() has it if it was an error). Must not outlive
// its Communicator.
class Work {
 public:
  Work() = default;  // done, OK
  Work(Work&& other) noexcept;
  Work& operator=(Work&& other) noexcept;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work();

  // Until done; returns the operation's outcome (again, if called again). Advances everything its thread has in flight.
  Status wait();
  // True when done (then wait() returns at once). Advances, never blocks.
  bool test();
  // As wait(), for about `timeout_ms` at most: true when done (then wait() returns the outcome at once). Time without
  // movement adds up over several calls until the communicator's deadline, which ends the operation.
  bool wait_for(int timeout_ms);

  // Of a receive, once wait() has returned OK: what it got.
  const Received& received() const { return received_; }

 private:
  friend class Communicator;
  friend class Plan;
  Work(comm::CommunicatorState* communicator, std::uint32_t ticket) : communicator_(communicator), ticket_(ticket) {}
  explicit Work(Status failed);

  comm::CommunicatorState* communicator_ = nullptr;
  std::uint32_t ticket_ = 0;
  Status failed_;
  Received received_;
};

// A prepared operation: checked, chosen, built and proved. Runs as often as wanted, on any buffers of the prepared
// count and type. Must not outlive its Communicator.
class Plan {
 public:
  // Blocks. In place where the addresses say so.
  Status run(const void* in, void* out);
  Work start(const void* in, void* out);
  const Choice& choice() const;

 private:
  friend class Communicator;
  Plan(comm::CommunicatorState* communicator, const Operation& operation, int size, Choice choice);

  comm::CommunicatorState* communicator_;
  Operation operation_;
  std::vector<std::unique_ptr<std::uint64_t[]>> rows_;  // what operation_'s blocks point to
  Choice choice_;
};

}  // namespace weft
