// Runtime: what a root communicator and all that is split from it share in one process: the store, the transports, one
// connection per peer process, and what the ranks agreed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "algorithms/selector.hpp"
#include "base/log.hpp"
#include "comm/agreement.hpp"
#include "comm/control.hpp"
#include "comm/model_pool.hpp"
#include "comm/progress.hpp"
#include "transports/store/store.hpp"
#include "transports/transport.hpp"
#include "weft/cost.hpp"
#include "weft/options.hpp"

namespace weft::comm {

// Of a lane's number; the others are the communicator's id, which no other communicator of this process has, now or
// later: ids only grow.
inline constexpr int kChannelBits = 8;

// What a runtime is made of. Processes fill it from the environment, tests with the parts for threads.
struct RuntimeParts {
  Options options;
  std::unique_ptr<transports::LocalStoreHub> hub;  // of a store that needs one; may be null
  std::unique_ptr<transports::Store> store;
  std::vector<std::unique_ptr<transports::Transport>> transports;  // in order of preference
  const topology::Graph* graph = nullptr;                          // used instead of probing, if not null
  Status failure;  // why this rank cannot take part after all; all ranks are told
};

class Runtime final {
 public:
  // Collective over the store's ranks.
  static Result<std::unique_ptr<Runtime>> create(RuntimeParts parts);

  int rank() const { return parts_.store->rank(); }
  int size() const { return parts_.store->size(); }
  const Options& options() const { return parts_.options; }
  const Agreement& agreement() const { return agreement_; }
  // What was measured; null: nothing.
  const algorithms::MeasuredTable* table() const { return table_ ? &*table_ : nullptr; }
  // Of files, proved.
  const algorithms::LoadedSchedules& schedules() const { return schedules_; }
  const std::vector<int>& placement() const { return placement_; }
  bool oversubscribed() const;
  Control& control() { return *control_; }
  Progress& progress() { return *progress_; }
  const base::Logger& log() const { return log_; }

  // During set-up. The connection to that rank, made on first use; and the transport that carries it ("self" for this
  // rank).
  Result<transports::Connection*> connection(int root_rank);
  transports::Transport* transport(int root_rank);
  // Any thread. The communicator has failed or is destroyed here: see Transport::retire.
  void retire(const CommunicatorKey& key);
  std::string_view transport_name(int root_rank) const;

  // What all communicators share.
  ModelPool& models() { return models_; }
  // Held while something is planned or looked up that communicators share: they may be used on several threads.
  std::unique_lock<std::mutex> setup() { return std::unique_lock(setup_); }
  Cost::Shared shared_cost();

  // Moves along the transports that need it.
  void poll() {
    for (const auto& entry : polled_) {
      transports::Transport* const transport = entry.load(std::memory_order_acquire);  // pairs with connection()
      if (transport == nullptr) return;
      transport->poll();
    }
  }

  // Communicator ids: every rank keeps the next one it has not seen in use. Agreed on by one thread at a time, which
  // holds the turn: two at once could agree on the same. Not owned: another thread has it. A lock that is waited for
  // would not do: the other rank may have its turn for the other communicator.
  std::uint32_t next_id = 1;
  std::unique_lock<std::mutex> split_turn() { return std::unique_lock(splitting_, std::try_to_lock); }
  std::atomic<int> communicators = 0;  // that live
  // Itself, once the root communicator has ended before others; until the last of them takes it.
  std::unique_ptr<Runtime> bereaved;

 private:
  Runtime(RuntimeParts parts, Agreement agreement, std::optional<algorithms::MeasuredTable> table,
          algorithms::LoadedSchedules schedules, std::unique_ptr<Progress> progress);

  RuntimeParts parts_;
  base::Logger log_;
  Agreement agreement_;
  std::optional<algorithms::MeasuredTable> table_;
  algorithms::LoadedSchedules schedules_;
  std::vector<int> placement_;
  std::vector<std::unique_ptr<transports::Connection>> connections_;  // by root rank
  std::array<std::atomic<transports::Transport*>, 4> polled_ = {};    // those with connections that need it, then null
  std::mutex setup_;
  std::mutex splitting_;
  ModelPool models_;
  std::unique_ptr<Control> control_;
  std::unique_ptr<Progress> progress_;
};

}  // namespace weft::comm
