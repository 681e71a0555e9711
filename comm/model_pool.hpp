// ModelPool: the cost models of a runtime. Communicators whose ranks lie at the same places choose by the same one: a
// thousand groups of the same ranks cost one model. A model ends with the last communicator that uses it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/cost.hpp"
#include "weft/graph.hpp"
#include "weft/status.hpp"

namespace weft::comm {

class ModelPool final {
  struct Entry {
    std::vector<int> placement;
    algorithms::CostModel model;
    int users = 0;
  };

 public:
  // The use of a model; must not outlive the pool.
  class Lease final {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), entry_(std::exchange(other.entry_, nullptr)) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(entry_, other.entry_);
      return *this;
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      if (pool_ != nullptr) pool_->give_back(entry_);
    }

    // The model of some of the ranks, as if they were all.
    Result<Lease> of(const std::vector<int>& members, const algorithms::MeasuredTable* measured) const;

    algorithms::CostModel& operator*() const { return entry_->model; }
    algorithms::CostModel* operator->() const { return &entry_->model; }

   private:
    friend class ModelPool;
    Lease(ModelPool* pool, Entry* entry) : pool_(pool), entry_(entry) {}

    ModelPool* pool_ = nullptr;
    Entry* entry_ = nullptr;
  };

  ModelPool() = default;
  ModelPool(const ModelPool&) = delete;
  ModelPool& operator=(const ModelPool&) = delete;

  // The model of ranks that are placed on these nodes of the graph. The graph and what was measured (null: nothing) are
  // always the same.
  Result<Lease> take(const topology::Graph& graph, const std::vector<int>& placement,
                     const algorithms::MeasuredTable* measured);
  std::uint64_t bytes() const;

 private:
  void give_back(const Entry* entry);

  std::list<Entry> entries_;
};

}  // namespace weft::comm
