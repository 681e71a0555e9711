// Lowering: chooses, for one rank, where every value lives. Reading a chunk that nobody wrote reads Input; a value is
// written to Output where the rank has a place for it, else to scratch. What does not lie in one piece is packed before
// it is sent and unpacked after it came.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/assemble.hpp"
#include "algorithms/canonical_order.hpp"
#include "base/assert.hpp"

namespace weft::algorithms {
namespace {

using Places = std::vector<Place>;

bool continues(const Places& places, std::size_t i) {
  const Place& before = places[i - 1];
  return places[i].space == before.space && places[i].slot == before.slot && places[i].index == before.index + 1;
}

bool contiguous(const Places& places) {
  for (std::size_t i = 1; i < places.size(); ++i)
    if (!continues(places, i)) return false;
  return true;
}

Span span_of(const Places& places, std::size_t begin, std::size_t end) {
  return {places[begin].space, places[begin].slot, places[begin].index, static_cast<std::int32_t>(end - begin)};
}
Span span_of(const Places& places) { return span_of(places, 0, places.size()); }

Places places_of(const Span& span) {
  Places places;
  for (std::int32_t i = 0; i < span.count; ++i) places.push_back({span.space, span.slot, span.first + i});
  return places;
}

class Lowering {
 public:
  Lowering(const Program& program, int rank, bool in_place, LoweringTables& tables)
      : program_(program),
        layout_(program.layout),
        events_(program.events[static_cast<std::size_t>(rank)]),
        place_(tables.place),
        channel_(tables.channel),
        last_write_(tables.last_write),
        last_input_read_(tables.last_input_read),
        next_part_(tables.next_part) {
    draft_.layout = layout_;
    draft_.rank = rank;
    draft_.in_place = in_place;
    draft_.channels.resize(static_cast<std::size_t>(program.channels));
    draft_.next_id.resize(static_cast<std::size_t>(program.channels));
    const auto chunks = static_cast<std::size_t>(layout_.chunks());
    place_.resize(chunks);
    channel_.resize(chunks, -1);
    last_write_.resize(chunks, -1);
    last_input_read_.resize(chunks, -1);
    next_part_.resize(chunks);
  }

  Draft run() {
    for (std::size_t i = 0; i < events_.size(); ++i) look_ahead(events_[i], static_cast<int>(i));
    plan_packing();
    copy_outputs(true);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      event_ = &events_[i];
      now_ = static_cast<int>(i);
      chunks_ = program_.chunks(events_[i]);
      move_ = event_->move;
      switch (event_->kind) {
        case EventKind::Send:
          send();
          break;
        case EventKind::Recv:
          receive();
          break;
        case EventKind::Fold:
          fold();
          break;
      }
    }
    move_ = std::numeric_limits<std::int32_t>::max();
    copy_outputs(false);
    forget();
    return std::move(draft_);
  }

 private:
  // Leaves the tables as they were before, at the cost of what was touched only.
  void forget() {
    for (const Event& event : events_) {
      for (const int c : program_.chunks(event)) {
        const auto chunk = static_cast<std::size_t>(c);
        place_[chunk] = {};
        channel_[chunk] = last_write_[chunk] = last_input_read_[chunk] = -1;
        next_part_[chunk] = {};
      }
    }
  }

  void look_ahead(const Event& event, int i) {
    for (const int c : program_.chunks(event)) {
      const auto chunk = static_cast<std::size_t>(c);
      WEFT_ASSERT(channel_[chunk] < 0 || channel_[chunk] == event.channel);
      channel_[chunk] = event.channel;
      if (event.kind != EventKind::Recv && last_write_[chunk] < 0) last_input_read_[chunk] = i;
      if (event.kind != EventKind::Send) last_write_[chunk] = i;
    }
  }

  // Where a message of several chunks will be packed from what comes before: a value that is received into scratch and
  // then sent as part of a longer message goes straight to its place in that message.
  void plan_packing() {
    parts_.assign(events_.size(), {});
    packed_.assign(events_.size(), -1);
    for (std::size_t i = events_.size(); i-- > 0;) {
      const auto chunks = program_.chunks(events_[i]);
      const auto of = [&](std::size_t k) -> Part& { return next_part_[static_cast<std::size_t>(chunks[k])]; };
      if (events_[i].kind == EventKind::Send) {
        for (std::size_t k = 0; k < chunks.size(); ++k)
          of(k) = chunks.size() > 1 ? Part{static_cast<std::int32_t>(i), static_cast<std::int32_t>(k)} : Part{};
        continue;
      }
      const Part first = of(0);
      bool together = first.send >= 0;
      for (std::size_t k = 0; k < chunks.size(); ++k) {
        together =
            together && of(k).send == first.send && of(k).position == first.position + static_cast<std::int32_t>(k);
        of(k) = {};
      }
      if (together) parts_[i] = first;
    }
  }

  // The slot in which event `send` packs its message.
  std::int32_t packing_slot(std::int32_t send) {
    std::int32_t& slot = packed_[static_cast<std::size_t>(send)];
    if (slot < 0) {
      const auto chunks = program_.chunks(events_[static_cast<std::size_t>(send)]);
      slot = draft_.add_slot({chunks.begin(), chunks.end()}, SlotUse::Home, event_->channel);
    }
    return slot;
  }

  void emit(const Step& step) { emit(event_->channel, step); }
  void emit(int channel, const Step& step) {
    draft_.channels[static_cast<std::size_t>(channel)].push_back(draft_.make(channel, move_, step));
  }

  // Whether Output's place for the chunk is the very memory of its Input.
  bool in_its_place(int chunk, int output) const {
    if (!draft_.in_place) return false;
    const int local = layout_.aliased_input(draft_.rank, output);
    return local >= 0 && layout_.input_chunk(draft_.rank, local) == chunk;
  }

  // Where the rank's value of the chunk is now. One name for one place where that keeps ranges in one piece: in place,
  // Input is called Output unless it is the larger of the two.
  Place read_place(int chunk) const {
    const Place& written = place_[static_cast<std::size_t>(chunk)];
    if (written.space != Space::None) return written;
    const int output = layout_.output_index(draft_.rank, chunk);
    if (output >= 0 && in_its_place(chunk, output) &&
        layout_.output_chunks(draft_.rank) >= layout_.input_chunks(draft_.rank)) {
      return {Space::Output, 0, output};
    }
    const int input = layout_.input_index(draft_.rank, chunk);
    WEFT_ASSERT(input >= 0 && "the algorithm reads a chunk that this rank does not have");
    return {Space::Input, 0, input};
  }

  // Own values that were copied to Output at the start are read there if that makes the range one piece.
  Places read_places() const {
    Places places;
    places.reserve(chunks_.size());
    for (const int chunk : chunks_) places.push_back(read_place(chunk));
    if (contiguous(places)) return places;
    Places outputs = places;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const int output = layout_.output_index(draft_.rank, chunks_[i]);
      if (places[i].space == Space::Input && output >= 0 && last_write_[static_cast<std::size_t>(chunks_[i])] < 0)
        outputs[i] = {Space::Output, 0, output};
    }
    return contiguous(outputs) ? outputs : places;
  }

  // Output's place still holds, by aliasing, another chunk's Input that a later move of this rank reads. Waiting for
  // that read here could deadlock; the value goes to scratch instead and is copied at the end.
  bool still_needed(int chunk, int output) const {
    if (!draft_.in_place) return false;
    const int local = layout_.aliased_input(draft_.rank, output);
    const int other = local < 0 ? chunk : layout_.input_chunk(draft_.rank, local);
    return other != chunk && last_input_read_[static_cast<std::size_t>(other)] > now_;
  }

  // Where this move's values go. `slot` is the new slot that was made for them, or -1; a chunk that goes to a new slot
  // lies at its position in the message, so that the message may be received into the slot as it is.
  Places write_places(int* slot) {
    const std::size_t n = chunks_.size();
    Places places(n);
    std::size_t outputs = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const int output = layout_.output_index(draft_.rank, chunks_[i]);
      if (output < 0 || still_needed(chunks_[i], output)) continue;
      places[i] = {Space::Output, 0, output};
      ++outputs;
    }
    *slot = -1;
    if (outputs == n) return places;
    // A message that is only partly for Output stays in one piece if Output's part will be written again.
    for (std::size_t i = 0; i < n; ++i)
      if (last_write_[static_cast<std::size_t>(chunks_[i])] > now_) places[i] = {};
    if (reuse_scratch(places) || use_packing_slot(places)) return places;
    *slot = draft_.add_slot({chunks_.begin(), chunks_.end()}, SlotUse::Home, event_->channel);
    for (std::size_t i = 0; i < n; ++i)
      if (places[i].space == Space::None) places[i] = {Space::Scratch, *slot, static_cast<std::int32_t>(i)};
    return places;
  }

  // If all chunks go to scratch and lie there in one piece already, they stay where they are.
  bool reuse_scratch(Places& places) const {
    Places present;
    for (std::size_t i = 0; i < places.size(); ++i) {
      present.push_back(place_[static_cast<std::size_t>(chunks_[i])]);
      if (places[i].space != Space::None || present[i].space != Space::Scratch) return false;
    }
    if (!contiguous(present)) return false;
    places = std::move(present);
    return true;
  }

  // If all go to scratch, and next into one message.
  bool use_packing_slot(Places& places) {
    const auto [send, position] = parts_[static_cast<std::size_t>(now_)];
    if (send < 0) return false;
    for (const Place& place : places)
      if (place.space != Space::None) return false;
    const std::int32_t slot = packing_slot(send);
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i] = {Space::Scratch, slot, position + static_cast<std::int32_t>(i)};
    return true;
  }

  void written(const Places& places) {
    for (std::size_t i = 0; i < places.size(); ++i) place_[static_cast<std::size_t>(chunks_[i])] = places[i];
  }

  Span message_slot() {
    return draft_.whole(draft_.add_slot({chunks_.begin(), chunks_.end()}, SlotUse::Message, event_->channel));
  }

  void copy_runs(const Places& dst, const Places& src) {
    for (std::size_t begin = 0, end = 1; begin < dst.size(); begin = end++) {
      while (end < dst.size() && continues(dst, end) && continues(src, end)) ++end;
      if (dst[begin] == src[begin]) continue;
      emit({.kind = StepKind::Copy, .dst = span_of(dst, begin, end), .src = span_of(src, begin, end)});
    }
  }

  void reduce_runs(const Places& dst, const Places& a, const Places& b, bool final_reduction) {
    for (std::size_t begin = 0, end = 1; begin < dst.size(); begin = end++) {
      while (end < dst.size() && continues(dst, end) && continues(a, end) && continues(b, end)) ++end;
      emit({.kind = StepKind::Reduce,
            .final_reduction = final_reduction,
            .dst = span_of(dst, begin, end),
            .src = span_of(a, begin, end),
            .src2 = span_of(b, begin, end)});
    }
  }

  void send() {
    const Places places = read_places();
    Span src = span_of(places);
    if (!contiguous(places)) {
      src = draft_.whole(packing_slot(now_));
      copy_runs(places_of(src), places);
    }
    emit({.kind = StepKind::Send, .peer = event_->peer, .src = src});
  }

  void take(int peer, const Span& dst) { emit({.kind = StepKind::Recv, .peer = peer, .dst = dst}); }

  void receive() {
    int slot = -1;
    const Places dst = write_places(&slot);
    if (contiguous(dst)) {
      take(event_->peer, span_of(dst));
    } else {
      const Span message = slot >= 0 ? draft_.whole(slot) : message_slot();
      take(event_->peer, message);
      Places from = places_of(message);
      copy_runs(dst, from);  // what stays in its slot is left out: dst == src
    }
    written(dst);
  }

  // Folds own and the others' values in the order of the ranks. The operators are commutative to the bit, so the first
  // two may swap: with an own position of 0 or 1 the fold starts with own value and message.
  void fold() {
    const auto ranks = program_.ranks(*event_);
    const Places own = read_places();
    int slot = -1;
    const Places dst = write_places(&slot);
    const auto self = static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), draft_.rank) - ranks.begin());
    const std::size_t last = ranks.size() - 1;
    if (last == 1) {
      fold_one(ranks[1 - self], own, dst, slot);
    } else if (program_.canonical) {
      fold_canonically(ranks, own, dst);
    } else {
      const Places sum = fresh(dst) ? dst : places_of(message_slot());
      std::size_t next = 2;
      if (self <= 1) {
        const Span message = message_slot();
        take(ranks[1 - self], message);
        reduce_runs(sum, own, places_of(message), false);
      } else {
        take(ranks[0], span_of(sum));
        next = 1;
      }
      for (; next <= last; ++next) {
        const Places& into = next == last ? dst : sum;
        const bool final_reduction = next == last && event_->final_reduction;
        if (next == self) {
          reduce_runs(into, sum, own, final_reduction);
          continue;
        }
        const Span message = message_slot();
        take(ranks[next], message);
        reduce_runs(into, sum, places_of(message), final_reduction);
      }
    }
    written(dst);
  }

  Places home_slot() {
    return places_of(draft_.whole(draft_.add_slot({chunks_.begin(), chunks_.end()}, SlotUse::Home, event_->channel)));
  }

  // In the order of Numerics::Invariant. What waits for its other operand waits in scratch; the own value where it is.
  void fold_canonically(std::span<const std::int32_t> ranks, const Places& own, const Places& dst) {
    const auto size = static_cast<int>(ranks.size());
    std::vector<Places> open;
    for (int position = 0; position < size; ++position) {
      const int rank = ranks[static_cast<std::size_t>(position)];
      int joins = joins_after(position, size);
      Places value = rank == draft_.rank ? own : joins == 0 ? home_slot() : places_of(message_slot());
      if (rank != draft_.rank) take(rank, span_of(value));
      for (; joins > 0; --joins) {
        const Places left = std::move(open.back());
        open.pop_back();
        const bool last = position == size - 1 && joins == 1;
        const Places into = last ? dst : left == own ? home_slot() : left;
        reduce_runs(into, left, value, last && event_->final_reduction);
        value = into;
      }
      open.push_back(std::move(value));
    }
  }

  void fold_one(int peer, const Places& own, const Places& dst, int slot) {
    const bool one_run = contiguous(dst) && contiguous(own);
    const Span message = slot >= 0 && !one_run ? draft_.whole(slot) : message_slot();
    take(peer, message);
    reduce_runs(dst, own, places_of(message), event_->final_reduction);
  }

  // Whether partial sums may be written to `dst` while the own value is still being read and sent.
  bool fresh(const Places& dst) const {
    if (!contiguous(dst)) return false;
    for (std::size_t i = 0; i < dst.size(); ++i) {
      const int chunk = chunks_[i];
      if (dst[i] == place_[static_cast<std::size_t>(chunk)]) return false;
      if (dst[i].space == Space::Output && place_[static_cast<std::size_t>(chunk)].space == Space::None &&
          in_its_place(chunk, dst[i].index)) {
        return false;
      }
    }
    return true;
  }

  // Fills what no move wrote to Output. Early: own values that no move touches; the copy overlaps with the first
  // messages. Late: the others.
  void copy_outputs(bool early) {
    Places dst;
    Places src;
    int channel = 0;
    const auto flush = [&] {
      for (std::size_t begin = 0, end = 1; begin < dst.size(); begin = end++) {
        while (end < dst.size() && continues(dst, end) && continues(src, end)) ++end;
        emit(channel, {.kind = StepKind::Copy, .dst = span_of(dst, begin, end), .src = span_of(src, begin, end)});
      }
      dst.clear();
      src.clear();
    };
    const int outputs = layout_.output_chunks(draft_.rank);
    for (int output = 0; output < outputs; ++output) {
      const int chunk = layout_.output_chunk(draft_.rank, output);
      const auto c = static_cast<std::size_t>(chunk);
      if ((last_write_[c] < 0) != early) continue;
      if (early && (layout_.input_index(draft_.rank, chunk) < 0 || in_its_place(chunk, output))) continue;
      if (place_[c].space == Space::Output) continue;
      const int chunk_channel = channel_[c] >= 0 ? channel_[c] : program_.default_channel(chunk);
      if (chunk_channel != channel) flush();
      channel = chunk_channel;
      dst.push_back({Space::Output, 0, output});
      src.push_back(early ? Place{Space::Input, 0, layout_.input_index(draft_.rank, chunk)} : place_[c]);
    }
    flush();
  }

  const Program& program_;
  const Layout layout_;
  const std::vector<Event>& events_;
  Draft draft_;
  std::vector<Part> parts_;           // by event: what the values it writes are received for
  std::vector<std::int32_t> packed_;  // by event: the slot that a Send packs its message in; -1: none
  Places& place_;                     // these by chunk; see LoweringTables
  std::vector<std::int32_t>& channel_;
  std::vector<std::int32_t>& last_write_;
  std::vector<std::int32_t>& last_input_read_;
  std::vector<Part>& next_part_;
  const Event* event_ = nullptr;  // the one being lowered
  std::span<const std::int32_t> chunks_;
  int now_ = -1;
  std::int32_t move_ = -1;
};

}  // namespace

Draft lower(const Program& program, int rank, bool in_place, LoweringTables& tables) {
  return Lowering(program, rank, in_place, tables).run();
}

}  // namespace weft::algorithms
