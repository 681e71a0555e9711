// Out of place, a program may read Input at any time. In place, Input is gone once Output was written there: what is
// read later, or may still be read by a send, is copied to scratch first. The other way round, a program in place finds
// Input in Output: what it reads there, or leaves there, is copied first.
#include "algorithms/alias.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::algorithms {
namespace {

using Marks = std::vector<char>;

char& at(Marks& marks, int index) { return marks[static_cast<std::size_t>(index)]; }

// What a step may read; no span where it reads less.
std::array<Span*, 2> operands(Step& step) { return {&step.src, &step.src2}; }

bool writes_output(const Step& step) { return step.dst.space == Space::Output; }

// Consecutive indices of `chosen`, as (first, count).
std::vector<std::pair<int, int>> runs(const std::vector<int>& chosen) {
  std::vector<std::pair<int, int>> found;
  for (const int index : chosen) {
    if (found.empty() || found.back().first + found.back().second != index)
      found.emplace_back(index, 1);
    else
      ++found.back().second;
  }
  return found;
}

std::vector<int> marked(const Marks& marks) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < marks.size(); ++i)
    if (marks[i] != 0) indices.push_back(static_cast<int>(i));
  return indices;
}

// `first` before the others, of which those in `left_out` are dropped; they are none that anyone waits for.
void put_first(std::vector<Step>& steps, std::vector<Step> first, const Marks& left_out) {
  std::vector<std::int32_t> moved_to;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    moved_to.push_back(static_cast<std::int32_t>(first.size()));
    if (left_out[i] != 0) continue;
    if (steps[i].wait >= 0) steps[i].wait = moved_to[static_cast<std::size_t>(steps[i].wait)];
    first.push_back(steps[i]);
  }
  steps = std::move(first);
}

Step copy_step(const Span& dst, const Span& src) {
  Step step;
  step.kind = StepKind::Copy;
  step.dst = dst;
  step.src = src;
  return step;
}

class ToInPlace {
 public:
  ToInPlace(const Layout& layout, int rank, RankProgram& program)
      : layout_(layout), rank_(rank), program_(program), written_(size_of_output(), 0) {}

  void run() {
    program_.in_place = true;
    for (std::vector<Step>& steps : program_.channels) gone_.push_back(find_needless(steps));
    for (std::size_t channel = 0; channel < program_.channels.size(); ++channel) convert(channel);
  }

 private:
  std::size_t size_of_output() const { return static_cast<std::size_t>(layout_.output_chunks(rank_)); }
  int output_of(int input) const { return layout_.aliased_output(rank_, input); }

  // Copies of a chunk to where it is already. Notes what the others write.
  Marks find_needless(const std::vector<Step>& steps) {
    Marks gone(steps.size(), 0);
    Marks before(size_of_output(), 0);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (!writes_output(step)) continue;
      bool needless = step.kind == StepKind::Copy && step.src.space == Space::Input;
      for (int k = 0; needless && k < step.dst.count; ++k)
        needless = output_of(step.src.first + k) == step.dst.first + k && at(before, step.dst.first + k) == 0;
      gone[i] = needless ? 1 : 0;
      for (int k = 0; !needless && k < step.dst.count; ++k) at(before, step.dst.first + k) = 1;
    }
    for (const int output : marked(before)) at(written_, output) = 1;
    return gone;
  }

  void convert(std::size_t channel) {
    std::vector<Step>& steps = program_.channels[channel];
    const Marks copied = find_copied(steps, gone_[channel]);
    const std::vector<int> chosen = marked(copied);
    std::vector<Step> first;
    if (!chosen.empty()) {
      const auto slot = static_cast<std::int32_t>(program_.scratch.size());
      ScratchSlot& kept = program_.scratch.emplace_back();
      std::vector<std::int32_t> place(copied.size(), 0);
      for (const int input : chosen) {
        place[static_cast<std::size_t>(input)] = static_cast<std::int32_t>(kept.chunks.size());
        kept.chunks.push_back(layout_.input_chunk(rank_, input));
      }
      const auto kept_at = [&](const Span& span) {
        return Span{Space::Scratch, slot, place[static_cast<std::size_t>(span.first)], span.count};
      };
      for (std::size_t i = 0; i < steps.size(); ++i) {
        for (Span* span : operands(steps[i]))
          if (gone_[channel][i] == 0 && span->space == Space::Input && copied[static_cast<std::size_t>(span->first)])
            *span = kept_at(*span);
      }
      for (const auto& [begin, count] : runs(chosen)) {
        const Span input{Space::Input, 0, begin, count};
        first.push_back(copy_step(kept_at(input), input));
      }
    }
    put_first(steps, std::move(first), gone_[channel]);
  }

  // Chunks of Input that are gone when a step reads them, or may be; and those that are read together with them.
  Marks find_copied(std::vector<Step>& steps, const Marks& gone) {
    Marks copied(static_cast<std::size_t>(layout_.input_chunks(rank_)), 0);
    Marks before(size_of_output(), 0);
    std::vector<Span> read;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (gone[i] != 0) continue;
      for (const Span* span : operands(steps[i])) {
        if (span->space != Space::Input) continue;
        read.push_back(*span);
        for (int k = 0; k < span->count; ++k)
          if (lost(steps[i], k, output_of(span->first + k), before)) at(copied, span->first + k) = 1;
      }
      if (!writes_output(steps[i])) continue;
      for (int k = 0; k < steps[i].dst.count; ++k) at(before, steps[i].dst.first + k) = 1;
    }
    spread(read, copied);
    return copied;
  }

  // Of the step's k-th operand chunk, which in place is Output's chunk `output`.
  bool lost(const Step& step, int k, int output, Marks& before) {
    if (output < 0) return false;
    if (step.kind == StepKind::Send) return at(written_, output) != 0;
    const bool shifted = writes_output(step) && output >= step.dst.first && output < step.dst.first + step.dst.count &&
                         output != step.dst.first + k;
    return at(before, output) != 0 || shifted;
  }

  // A span lies in one piece: its chunks are copied together, and so on with the spans that share some.
  static void spread(std::vector<Span>& read, Marks& copied) {
    std::sort(read.begin(), read.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
    // Spans that overlap, joined; then one mark of a joined one is a mark of all of it.
    for (std::size_t i = 0; i < read.size();) {
      int end = read[i].first + read[i].count;
      std::size_t next = i + 1;
      for (; next < read.size() && read[next].first < end; ++next)
        end = std::max(end, read[next].first + read[next].count);
      const auto first = copied.begin() + read[i].first;
      const auto last = copied.begin() + end;
      if (std::find(first, last, 1) != last) std::fill(first, last, 1);
      i = next;
    }
  }

  const Layout& layout_;
  int rank_;
  RankProgram& program_;
  Marks written_;            // of Output, by any step that is not needless
  std::vector<Marks> gone_;  // by channel and step
};

class ToOutOfPlace {
 public:
  ToOutOfPlace(const Layout& layout, int rank, RankProgram& program)
      : layout_(layout),
        rank_(rank),
        program_(program),
        copied_(static_cast<std::size_t>(layout.output_chunks(rank)), 0),
        owner_(copied_.size(), -1),
        written_(copied_.size(), 0) {}

  void run() {
    program_.in_place = false;
    for (std::size_t channel = 0; channel < program_.channels.size(); ++channel)
      for (Step& step : program_.channels[channel]) look_at(step, static_cast<int>(channel));
    // What no step writes is where it belongs in place only.
    for (int output = 0; output < static_cast<int>(copied_.size()); ++output)
      if (at(written_, output) == 0) copy(output);
    for (std::size_t channel = 0; channel < program_.channels.size(); ++channel) put_copies(channel);
  }

 private:
  void copy(int output) {
    if (layout_.aliased_input(rank_, output) >= 0) at(copied_, output) = 1;
  }

  void look_at(Step& step, int channel) {
    for (Span* span : operands(step)) {
      if (span->space == Space::Input) read_input(*span, channel);
      if (span->space == Space::Output) read_output(*span, channel);
    }
    if (!writes_output(step)) return;
    for (int k = 0; k < step.dst.count; ++k) {
      at(written_, step.dst.first + k) = 1;
      owner_[static_cast<std::size_t>(step.dst.first + k)] = channel;
    }
  }

  void read_output(const Span& span, int channel) {
    for (int output = span.first; output < span.first + span.count; ++output) {
      owner_[static_cast<std::size_t>(output)] = channel;
      if (at(written_, output) == 0) copy(output);
    }
  }

  // Input that was overwritten in place is in Output now. A span of which a part has no place there stays, and fails
  // the proof.
  void read_input(Span& span, int channel) {
    bool overwritten = false;
    for (int k = 0; k < span.count; ++k) {
      const int output = layout_.aliased_output(rank_, span.first + k);
      if (output < 0) continue;
      owner_[static_cast<std::size_t>(output)] = channel;
      overwritten = overwritten || at(written_, output) != 0;
    }
    if (!overwritten) return;
    const int first = layout_.aliased_output(rank_, span.first);
    const int last = layout_.aliased_output(rank_, span.first + span.count - 1);
    if (first < 0 || last != first + span.count - 1) return;
    span = {Space::Output, 0, first, span.count};
    read_output(span, channel);
  }

  void put_copies(std::size_t channel) {
    std::vector<int> own;
    for (const int output : marked(copied_)) {
      const int owner = owner_[static_cast<std::size_t>(output)];
      if (std::max(owner, 0) == static_cast<int>(channel)) own.push_back(output);
    }
    std::vector<Step> first;
    for (const auto& [begin, count] : runs(own)) {
      const Span output{Space::Output, 0, begin, count};
      first.push_back(copy_step(output, {Space::Input, 0, layout_.aliased_input(rank_, begin), count}));
    }
    std::vector<Step>& steps = program_.channels[channel];
    put_first(steps, std::move(first), Marks(steps.size(), 0));
  }

  const Layout& layout_;
  int rank_;
  RankProgram& program_;
  Marks copied_;            // of Output: from Input, at the start
  std::vector<int> owner_;  // by chunk of Output: the channel that uses it or its Input
  Marks written_;
};

}  // namespace

Schedule with_aliasing(const Schedule& schedule, bool in_place) {
  Schedule result = schedule;
  if (schedule.collective == Collective::Barrier) return result;  // there is no memory
  const Layout layout = layout_of(schedule);
  for (int rank = 0; rank < schedule.size; ++rank) {
    RankProgram& program = result.ranks[static_cast<std::size_t>(rank)];
    if (program.in_place == in_place) continue;
    if (in_place)
      ToInPlace(layout, rank, program).run();
    else
      ToOutOfPlace(layout, rank, program).run();
  }
  return result;
}

}  // namespace weft::algorithms
