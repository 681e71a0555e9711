// Hoisting sends: a message that leaves earlier arrives earlier. In the order in which an algorithm is written, a rank
// often receives before it sends something that it had all along.
#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "algorithms/assemble.hpp"

namespace weft::algorithms {
namespace {

// Per place, a number (which step wrote it last); per peer likewise for its lane.
class Hoist {
 public:
  explicit Hoist(const Draft& draft) : cells_(draft), writer_(static_cast<std::size_t>(cells_.count()), 0) {}

  void run(std::vector<DraftStep>& steps) {
    // anchors[i]: how many of the steps that stay come before step i.
    std::vector<std::int32_t> anchors;
    anchors.reserve(steps.size());
    std::int32_t stayed = 0;
    for (const DraftStep& draft : steps) {
      const Step& step = draft.step;
      if (step.kind == StepKind::Send) {
        anchors.push_back(earliest(step));
        continue;
      }
      anchors.push_back(stayed++);
      for (std::int32_t i = 0; i < step.dst.count; ++i) writer_[cell(step.dst, i)] = stayed;
    }
    reorder(steps, anchors);
  }

 private:
  std::size_t cell(const Span& span, std::int32_t i) const { return static_cast<std::size_t>(cells_.of(span, i)); }

  std::int32_t earliest(const Step& send) {
    std::int32_t& lane = lanes_[send.peer];
    for (std::int32_t i = 0; i < send.src.count; ++i) lane = std::max(lane, writer_[cell(send.src, i)]);
    return lane;
  }

  // Sends with anchor k go before the step that stays with anchor k, in their own order.
  static void reorder(std::vector<DraftStep>& steps, const std::vector<std::int32_t>& anchors) {
    std::vector<std::size_t> order(steps.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](std::size_t i) { return anchors[i] * 2 + (steps[i].step.kind == StepKind::Send ? 0 : 1); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::vector<DraftStep> sorted;
    sorted.reserve(steps.size());
    for (const std::size_t i : order) sorted.push_back(steps[i]);
    steps = std::move(sorted);
  }

  Cells cells_;
  std::vector<std::int32_t> writer_;
  std::unordered_map<std::int32_t, std::int32_t> lanes_;
};

}  // namespace

void hoist_sends(Draft& draft) {
  for (auto& steps : draft.channels) Hoist(draft).run(steps);
}

}  // namespace weft::algorithms
