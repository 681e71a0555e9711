// Looks for a model of the same places, and makes one where there is none.
#include "comm/model_pool.hpp"

#include <algorithm>

namespace weft::comm {

Result<ModelPool::Lease> ModelPool::take(const topology::Graph& graph, const std::vector<int>& placement,
                                         const algorithms::MeasuredTable* measured) {
  const auto known =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.placement == placement; });
  if (known != entries_.end()) {
    ++known->users;
    return Lease(this, &*known);
  }
  WEFT_TRY_ASSIGN(algorithms::CostModel model,
                  algorithms::CostModel::create(topology::make_group(graph, placement), graph, placement, measured));
  entries_.push_back({placement, std::move(model), 1});
  return Lease(this, &entries_.back());
}

Result<ModelPool::Lease> ModelPool::Lease::of(const std::vector<int>& members,
                                              const algorithms::MeasuredTable* measured) const {
  std::vector<int> placement;
  for (const int member : members) placement.push_back(entry_->placement[static_cast<std::size_t>(member)]);
  return pool_->take(entry_->model.graph(), placement, measured);
}

void ModelPool::give_back(const Entry* entry) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) { return &one == entry; });
  if (--found->users == 0) entries_.erase(found);
}

std::uint64_t ModelPool::bytes() const {
  std::uint64_t bytes = 0;
  for (const Entry& entry : entries_)
    bytes += sizeof(Entry) + entry.placement.capacity() * sizeof(int) + entry.model.memory_bytes();
  return bytes;
}

}  // namespace weft::comm
