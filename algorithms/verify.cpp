// One symbolic execution is a proof for all interleavings. A channel of a rank is a sequential program; it touches
// memory that no other channel touches (checked), and learns of the others only by taking messages from FIFO lanes and
// by waiting for sends, both of which block until they can be had and cannot be lost: a Kahn network. So what every
// channel reads, writes and sends, and whether it ends, does not depend on who runs when. It could depend on when a
// send reads its source; but a source is never written before its send was waited for (checked along the channel's own
// order), so every moment reads the same. What remains of the transport is when a send counts as done, which can only
// make a rank wait for ever: hence one execution per model.
#include "algorithms/verify.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "algorithms/machine.hpp"
#include "algorithms/reduction_trees.hpp"
#include "algorithms/verify_form.hpp"

namespace weft::algorithms {
namespace {

using Value = ReductionTrees::Id;
constexpr Value kNothing = -1;

Status corrupt(std::string message) { return {Code::Corrupt, std::move(message)}; }

// Which lane each step uses, and how many messages its channel sent there before. Known from the program text alone.
struct Ports {
  std::int32_t in = -1;
  std::int32_t out = -1;
  std::int32_t ordinal = 0;
};

struct Lane {
  int from = 0;
  int to = 0;
  int channel = 0;
};

class Wiring {
 public:
  explicit Wiring(const Schedule& schedule) : channels_(schedule.channels) {
    ports_.resize(static_cast<std::size_t>(schedule.size) * static_cast<std::size_t>(channels_));
    std::vector<std::int32_t> sent;
    for (int rank = 0; rank < schedule.size; ++rank) {
      for (int channel = 0; channel < channels_; ++channel) {
        const auto& steps = schedule.ranks[static_cast<std::size_t>(rank)].channels[static_cast<std::size_t>(channel)];
        auto& ports = ports_[index(rank, channel)];
        ports.resize(steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) {
          const Step& step = steps[i];
          if (receives(step.kind)) ports[i].in = lane({step.peer, rank, channel});
          if (!sends(step.kind)) continue;
          ports[i].out = lane({rank, step.kind == StepKind::Send ? step.peer : step.to, channel});
          sent.resize(lanes.size(), 0);
          ports[i].ordinal = sent[static_cast<std::size_t>(ports[i].out)]++;
        }
      }
    }
  }

  const Ports& at(int rank, int channel, int step) const {
    return ports_[index(rank, channel)][static_cast<std::size_t>(step)];
  }

  std::vector<Lane> lanes;

 private:
  std::size_t index(int rank, int channel) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(channels_) + static_cast<std::size_t>(channel);
  }
  std::int32_t lane(const Lane& lane) {
    const std::uint64_t key = (static_cast<std::uint64_t>(lane.from) << 42) |
                              (static_cast<std::uint64_t>(lane.to) << 20) | static_cast<std::uint64_t>(lane.channel);
    const auto [entry, added] = numbers_.try_emplace(key, static_cast<std::int32_t>(lanes.size()));
    if (added) lanes.push_back(lane);
    return entry->second;
  }

  int channels_;
  std::vector<std::vector<Ports>> ports_;
  std::unordered_map<std::uint64_t, std::int32_t> numbers_;
};

// Messages as mere counts, and when sends are done: all that decides whether a schedule ends.
class Flow {
 public:
  Flow(const Wiring& wiring, SendModel model)
      : wiring_(wiring), model_(model), posted_(wiring.lanes.size(), 0), taken_(wiring.lanes.size(), 0) {}

  bool may_continue(const At&) const { return true; }
  bool arrived(const At& at, int) const { return taken_[in(at)] < posted_[in(at)]; }
  bool sent(const At& at, int step) const {
    const Ports& ports = wiring_.at(at.rank, at.channel, step);
    return model_.slots < 0 || taken_[static_cast<std::size_t>(ports.out)] + model_.slots > ports.ordinal;
  }
  void waited(const At&, int) {}
  void send(const At& at, const Span&, int) { ++posted_[out(at)]; }
  void take(const At& at, const Step&) { ++taken_[in(at)]; }
  void receive(const At&, const Step&) {}
  void receive_reduce(const At&, const Step&) {}
  void copy(const At&, const Step&) {}
  void reduce(const At&, const Step&) {}

  std::int64_t taken(std::size_t lane) const { return taken_[lane]; }
  std::int64_t left_over(std::size_t lane) const { return posted_[lane] - taken_[lane]; }

 protected:
  std::size_t in(const At& at) const { return static_cast<std::size_t>(wiring_.at(at.rank, at.channel, at.index).in); }
  std::size_t out(const At& at) const {
    return static_cast<std::size_t>(wiring_.at(at.rank, at.channel, at.index).out);
  }

  const Wiring& wiring_;

 private:
  SendModel model_;
  std::vector<std::int64_t> posted_;  // by lane
  std::vector<std::int64_t> taken_;
};

// Flow, and values: the machine's domain for the proof. Stops at the first fault.
class Proof : public Flow {
 public:
  Proof(const Schedule& schedule, const Wiring& wiring, SendModel model)
      : Flow(wiring, model),
        schedule_(schedule),
        layout_(layout_of(schedule)),
        queues_(wiring.lanes.size()),
        waited_(wiring.lanes.size(), -1) {
    for (int rank = 0; rank < schedule.size; ++rank) {
      Rank& state = ranks_.emplace_back(Rank{Memory(schedule, rank), {}, {}, {}});
      state.cells.resize(static_cast<std::size_t>(state.memory.count()));
      state.messages.resize(static_cast<std::size_t>(schedule.channels));
      for (int local = 0; local < layout_.input_chunks(rank); ++local)
        cell(state, {Space::Input, 0, local, 1}, 0).value = trees_.leaf(rank, layout_.input_chunk(rank, local));
    }
  }

  bool may_continue(const At&) const { return fault_.empty(); }

  void waited(const At& at, int step) {
    const Ports& ports = wiring_.at(at.rank, at.channel, step);
    auto& done = waited_[static_cast<std::size_t>(ports.out)];
    done = std::max(done, ports.ordinal);
  }

  void send(const At& at, const Span& src, int to) {
    Rank& state = rank(at);
    queues_[out(at)].push_back({at, src, read(at, "src", src)});
    for (int i = 0; i < src.count; ++i) {
      Cell& source = cell(state, src, i);
      state.readers.push_back({static_cast<std::int32_t>(out(at)), wiring_.at(at.rank, at.channel, at.index).ordinal,
                               at.index, source.readers});
      source.readers = static_cast<std::int32_t>(state.readers.size()) - 1;
    }
    Flow::send(at, src, to);
  }

  void take(const At& at, const Step& step) {
    Message message = std::move(queues_[in(at)][static_cast<std::size_t>(taken(in(at)))]);
    check_sizes(at, step, message);
    const bool lands = step.landing.space != Space::None;
    write(at, lands ? "landing" : "dst", lands ? step.landing : step.dst, {});
    rank(at).messages[static_cast<std::size_t>(at.channel)] = std::move(message.values);
    Flow::take(at, step);
  }

  void receive(const At& at, const Step& step) { write(at, "dst", step.dst, message(at)); }

  void receive_reduce(const At& at, const Step& step) {
    write(at, "dst", step.dst, reduced(read(at, "src", step.src), message(at), step.final_reduction));
  }

  void copy(const At& at, const Step& step) { write(at, "dst", step.dst, read(at, "src", step.src)); }

  void reduce(const At& at, const Step& step) {
    write(at, "dst", step.dst, reduced(read(at, "src", step.src), read(at, "src2", step.src2), step.final_reduction));
  }

  // The first fault, or "".
  const std::string& fault() const { return fault_; }

  // What is wrong with the values that are in the outputs now, or "".
  std::string output_fault(bool canonical) {
    std::vector<std::pair<Value, int>> known(static_cast<std::size_t>(layout_.chunks()), {kNothing, -1});
    for (int r = 0; r < schedule_.size; ++r) {
      const Rank& state = ranks_[static_cast<std::size_t>(r)];
      for (int local = 0; local < layout_.output_chunks(r); ++local) {
        const int chunk = layout_.output_chunk(r, local);
        const Value value = state.cells[static_cast<std::size_t>(local)].value;
        auto& [first, first_rank] = known[static_cast<std::size_t>(chunk)];
        if (value != kNothing && value == first) continue;
        std::string fault = value_fault(value, chunk);
        if (fault.empty() && first != kNothing && reduces(schedule_.collective))
          fault = fmt::format("was reduced by another tree than on rank {}", first_rank);
        if (fault.empty() && canonical && !in_canonical_order(value, chunk))
          fault = "was reduced in another order than that of Numerics::Invariant";
        if (!fault.empty()) return fmt::format("rank {}: output chunk {} {}", r, local, fault);
        first = value;
        first_rank = r;
      }
    }
    return "";
  }

 private:
  struct Cell {
    Value value = kNothing;
    std::int32_t channel = -1;
    std::int32_t readers = -1;  // head of a list in Rank::readers
  };
  struct Reader {
    std::int32_t lane = 0;
    std::int32_t ordinal = 0;
    std::int32_t step = 0;
    std::int32_t next = -1;
  };
  struct Rank {
    Memory memory;
    std::vector<Cell> cells;
    std::vector<Reader> readers;
    std::vector<std::vector<Value>> messages;  // by channel: the one taken last
  };
  struct Message {
    At from;
    Span src;
    std::vector<Value> values;
  };

  bool in_canonical_order(Value value, int chunk) {
    return !reduces(schedule_.collective) || schedule_.size == 1 || value == trees_.canonical(schedule_.size, chunk);
  }

  Rank& rank(const At& at) { return ranks_[static_cast<std::size_t>(at.rank)]; }
  const std::vector<Value>& message(const At& at) { return rank(at).messages[static_cast<std::size_t>(at.channel)]; }
  static Cell& cell(Rank& state, const Span& span, int i) {
    return state.cells[static_cast<std::size_t>(state.memory.cell(span, i))];
  }

  void fail(const At& at, const std::string& what) {
    if (fault_.empty()) fault_ = fmt::format("{} {}", describe(schedule_, at), what);
  }

  void own(const At& at, std::string_view name, Cell& cell) {
    if (cell.channel >= 0 && cell.channel != at.channel)
      fail(at, fmt::format("has {} in memory that belongs to channel {}", name, cell.channel));
    cell.channel = at.channel;
  }

  std::vector<Value> read(const At& at, std::string_view name, const Span& span) {
    std::vector<Value> values;
    values.reserve(static_cast<std::size_t>(span.count));
    for (int i = 0; i < span.count; ++i) {
      Cell& source = cell(rank(at), span, i);
      own(at, name, source);
      if (source.value == kNothing) fail(at, fmt::format("reads {} chunk {} that nothing wrote", name, i));
      values.push_back(source.value);
    }
    return values;
  }

  // With no values: the memory is overwritten with something that is of no use later.
  void write(const At& at, std::string_view name, const Span& span, const std::vector<Value>& values) {
    for (int i = 0; i < span.count; ++i) {
      Cell& target = cell(rank(at), span, i);
      own(at, name, target);
      for (; target.readers >= 0;) {
        const Reader& reader = rank(at).readers[static_cast<std::size_t>(target.readers)];
        if (reader.ordinal > waited_[static_cast<std::size_t>(reader.lane)]) {
          fail(at,
               fmt::format("writes {} chunk {} while the send of step {} may still read it; wait for that step first",
                           name, i, reader.step));
          return;
        }
        target.readers = reader.next;
      }
      target.value = static_cast<std::size_t>(i) < values.size() ? values[static_cast<std::size_t>(i)] : kNothing;
    }
  }

  std::vector<Value> reduced(const std::vector<Value>& a, const std::vector<Value>& b, bool final_reduction) {
    std::vector<Value> result(a.size(), kNothing);
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
      if (a[i] != kNothing && b[i] != kNothing) result[i] = trees_.reduce(a[i], b[i], final_reduction);
    return result;
  }

  void check_sizes(const At& at, const Step& step, const Message& message) {
    bool equal = message.src.count == step.dst.count;
    for (int i = 0; equal && i < step.dst.count; ++i)
      equal = rank(message.from).memory.size_class(message.src, i) == rank(at).memory.size_class(step.dst, i);
    if (!equal)
      fail(at, fmt::format("expects a message of other chunks than {} sends", describe(schedule_, message.from)));
  }

  std::string value_fault(Value value, int chunk) const {
    if (value == kNothing) return "was not written";
    const int contributor = layout_.contributor(chunk);
    if (contributor >= 0) {
      if (trees_.is_leaf(value, contributor, chunk)) return "";
      return fmt::format("must be rank {}'s chunk {}, and holds {}", contributor, chunk, words(value));
    }
    if (schedule_.collective == Collective::Barrier) {
      const int absent = trees_.first_absent(value, schedule_.size);
      return absent < 0 ? "" : fmt::format("does not know that rank {} came", absent);
    }
    if (!trees_.holds_each_once(value, schedule_.size, chunk))
      return fmt::format("must hold chunk {} of every rank once, and holds {}", chunk, words(value));
    if (schedule_.size > 1 && !trees_.final_at_the_root_only(value))
      return "did not pass exactly one final reduction, as its last one";
    return "";
  }

  std::string words(Value value) const {
    const auto some = trees_.some_ranks(value, 9);
    return fmt::format("chunk {} of ranks {}{}", trees_.chunk_of_some_leaf(value), fmt::join(some, ", "),
                       some.size() == 9 ? ", ..." : "");
  }

  const Schedule& schedule_;
  const Layout layout_;
  ReductionTrees trees_;
  std::vector<Rank> ranks_;
  std::vector<std::vector<Message>> queues_;  // by lane: all messages posted; those taken are empty
  std::vector<std::int32_t> waited_;          // by lane: the last ordinal that was waited for
  std::string fault_;
};

std::string_view words(SendModel model) {
  if (model.slots < 0) return "with sends that are done at once";
  return model.slots == 0 ? "with sends that are done when they are received" : "with few buffers per lane";
}

// The step whose message is the first that nobody took from the lane.
At first_left_over(const Schedule& schedule, const Wiring& wiring, const Flow& flow, std::size_t lane) {
  At at{wiring.lanes[lane].from, wiring.lanes[lane].channel, 0};
  const auto& channels = schedule.ranks[static_cast<std::size_t>(at.rank)].channels;
  const int steps = static_cast<int>(channels[static_cast<std::size_t>(at.channel)].size());
  for (; at.index + 1 < steps; ++at.index) {
    const Ports& ports = wiring.at(at.rank, at.channel, at.index);
    if (ports.out == static_cast<std::int32_t>(lane) && ports.ordinal == flow.taken(lane)) break;
  }
  return at;
}

// Did everything end, and is every message taken?
std::string end_fault(const Schedule& schedule, const Wiring& wiring, const Flow& flow,
                      const std::vector<Stuck>& stuck) {
  if (!stuck.empty()) {
    const Stuck& first = stuck.front();
    const char* what =
        first.why == Outcome::NeedsMessage ? "waits for ever for its message" : "waits for ever for its send";
    return fmt::format("{} {}; {} channels are stuck", describe(schedule, first.at), what, stuck.size());
  }
  for (std::size_t lane = 0; lane < wiring.lanes.size(); ++lane) {
    if (flow.left_over(lane) == 0) continue;
    return fmt::format("{} sends in vain: {} messages from rank {} to rank {} are never received",
                       describe(schedule, first_left_over(schedule, wiring, flow, lane)), flow.left_over(lane),
                       wiring.lanes[lane].from, wiring.lanes[lane].to);
  }
  return "";
}

}  // namespace

Status verify(const Schedule& schedule, const VerifyOptions& options) {
  WEFT_TRY(check_form(schedule));
  const Wiring wiring(schedule);
  const SendModel first = options.models.empty() ? SendModel::rendezvous() : options.models.front();
  Proof proof(schedule, wiring, first);
  const auto stuck = run_to_the_end(schedule, proof);
  if (!proof.fault().empty()) return corrupt(proof.fault());
  std::string fault = end_fault(schedule, wiring, proof, stuck);
  if (!fault.empty()) return corrupt(fmt::format("{} ({})", fault, words(first)));
  fault = proof.output_fault(options.canonical);
  if (!fault.empty()) return corrupt(fault);
  for (std::size_t i = 1; i < options.models.size(); ++i) {
    Flow flow(wiring, options.models[i]);
    fault = end_fault(schedule, wiring, flow, run_to_the_end(schedule, flow));
    if (!fault.empty()) return corrupt(fmt::format("{} ({})", fault, words(options.models[i])));
  }
  return {};
}

}  // namespace weft::algorithms
