// The order of the passes, and the last step of all: from identities back to indices.
#include "algorithms/assemble.hpp"

#include <cstddef>

namespace weft::algorithms {
namespace {

// Ids become indices. A Wait or `wait` that names a step finds it at its present place.
std::vector<Step> finish(const std::vector<DraftStep>& steps, std::int32_t ids) {
  std::vector<std::int32_t> index(static_cast<std::size_t>(ids), -1);
  for (std::size_t i = 0; i < steps.size(); ++i)
    index[static_cast<std::size_t>(steps[i].id)] = static_cast<std::int32_t>(i);
  std::vector<Step> result;
  result.reserve(steps.size());
  for (const DraftStep& entry : steps) {
    result.push_back(entry.step);
    if (entry.step.wait >= 0) result.back().wait = index[static_cast<std::size_t>(entry.step.wait)];
  }
  return result;
}

}  // namespace

void assemble(const Program& program, int rank, const Passes& passes, LoweringTables& tables, RankProgram& result) {
  Draft draft = lower(program, rank, result.in_place, tables);
  if (passes.hoist_sends) hoist_sends(draft);
  merge_homes(draft, passes.uneven);
  derive_waits(draft);
  if (passes.fuse) fuse(draft);
  merge_messages(draft, passes.uneven);
  result.channels.clear();
  for (std::size_t channel = 0; channel < draft.channels.size(); ++channel)
    result.channels.push_back(finish(draft.channels[channel], draft.next_id[channel]));
  result.scratch.clear();
  for (DraftSlot& slot : draft.slots) result.scratch.push_back({std::move(slot.chunks)});
}

}  // namespace weft::algorithms
