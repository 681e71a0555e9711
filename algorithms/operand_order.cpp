// One symbolic execution in which a value is the lowest rank that it holds: of two neighbours that decides who is
// first.
#include "algorithms/operand_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "algorithms/machine.hpp"
#include "algorithms/verify_form.hpp"
#include "base/assert.hpp"

namespace weft::algorithms {
namespace {

// The machine's domain. Sends are done at once: when they are does not change what is computed (see verify.cpp).
class LowestRanks {
 public:
  using Values = std::vector<int>;

  LowestRanks(const Schedule& schedule, int rank) : schedule_(schedule), watched_(rank) {
    const Layout layout = layout_of(schedule);
    for (int one = 0; one < schedule.size; ++one) {
      memories_.emplace_back(schedule, one);
      cells_.emplace_back(static_cast<std::size_t>(memories_.back().count()), -1);
      messages_.emplace_back(static_cast<std::size_t>(schedule.channels));
      for (int local = 0; local < layout.input_chunks(one); ++local)
        write({one, 0, 0}, {Space::Input, 0, local, 1}, {one});
    }
    for (const auto& steps : schedule.ranks[static_cast<std::size_t>(rank)].channels)
      swapped_.emplace_back(steps.size(), false);
  }

  bool may_continue(const At&) const { return fault_.ok(); }
  bool arrived(const At& at, int from) { return !lane(from, at.rank, at.channel).empty(); }
  void take(const At& at, const Step& step) {
    auto& queue = lane(step.peer, at.rank, at.channel);
    message(at) = std::move(queue.front());
    queue.pop_front();
  }
  bool sent(const At&, int) const { return true; }
  void waited(const At&, int) {}
  void send(const At& at, const Span& src, int to) { lane(at.rank, to, at.channel).push_back(read(at, src)); }
  void receive(const At& at, const Step& step) { write(at, step.dst, message(at)); }
  void receive_reduce(const At& at, const Step& step) {
    write(at, step.dst, reduced(at, read(at, step.src), message(at)));
  }
  void copy(const At& at, const Step& step) { write(at, step.dst, read(at, step.src)); }
  void reduce(const At& at, const Step& step) {
    write(at, step.dst, reduced(at, read(at, step.src), read(at, step.src2)));
  }

  const Status& fault() const { return fault_; }
  std::vector<std::vector<bool>> take_swapped() { return std::move(swapped_); }

 private:
  std::deque<Values>& lane(int from, int to, int channel) { return lanes_[{from, to, channel}]; }
  Values& message(const At& at) {
    return messages_[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.channel)];
  }
  int& cell(int rank, const Span& span, int i) {
    const auto index = static_cast<std::size_t>(rank);
    return cells_[index][static_cast<std::size_t>(memories_[index].cell(span, i))];
  }

  Values read(const At& at, const Span& span) {
    Values values;
    for (int i = 0; i < span.count; ++i) values.push_back(cell(at.rank, span, i));
    return values;
  }
  void write(const At& at, const Span& span, const Values& values) {
    for (int i = 0; i < span.count; ++i) cell(at.rank, span, i) = values[static_cast<std::size_t>(i)];
  }

  Values reduced(const At& at, const Values& first, const Values& second) {
    Values lowest;
    int swaps = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      lowest.push_back(std::min(first[i], second[i]));
      swaps += second[i] < first[i] ? 1 : 0;
    }
    // Of whatever rank: all must give up, or the others would wait.
    if (swaps > 0 && swaps < static_cast<int>(first.size()))
      fault_ = Status(Code::Unsupported,
                      fmt::format("{} reduces chunks of lower and of higher ranks in one step, which an operator that "
                                  "does not commute cannot do; choose another algorithm",
                                  describe(schedule_, at)));
    if (at.rank != watched_) return lowest;
    swapped_[static_cast<std::size_t>(at.channel)][static_cast<std::size_t>(at.index)] = swaps > 0;
    return lowest;
  }

  const Schedule& schedule_;
  int watched_;
  std::vector<Memory> memories_;               // by rank
  std::vector<std::vector<int>> cells_;        // by rank
  std::vector<std::vector<Values>> messages_;  // by rank and channel: the one taken last
  std::map<std::tuple<int, int, int>, std::deque<Values>> lanes_;
  std::vector<std::vector<bool>> swapped_;
  Status fault_;
};

}  // namespace

Result<std::vector<std::vector<bool>>> swapped_operands(const Schedule& schedule, int rank) {
  LowestRanks domain(schedule, rank);
  const std::vector<Stuck> stuck = run_to_the_end(schedule, domain);
  WEFT_TRY(domain.fault());
  WEFT_ASSERT(stuck.empty());
  static_cast<void>(stuck);
  return domain.take_swapped();
}

}  // namespace weft::algorithms
