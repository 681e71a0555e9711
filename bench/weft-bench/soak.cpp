// The calls that a thread has in flight, the threads, and when they all stop.
#include "bench/weft-bench/soak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/message_sizes.hpp"
#include "base/output.hpp"
#include "bench/weft-bench/buffer.hpp"
#include "bench/weft-bench/pattern.hpp"
#include "bench/weft-bench/soak_draw.hpp"
#include "bench/weft-bench/workload.hpp"

namespace weft::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kThreads = 3;
constexpr int kInFlight = 3;            // calls of a thread, at most
constexpr int kRoundsPerAgreement = 8;  // after which the ranks ask each other whether the time is over

// What one thread does with its communicator.
class Soaker {
 public:
  struct Memory {
    Buffer in;
    Buffer out;
  };

  Soaker(Communicator communicator, Draw draw, std::vector<Memory> memory, Clock::time_point end)
      : communicator_(std::move(communicator)), draw_(std::move(draw)), memory_(std::move(memory)), end_(end) {}

  Status run() {
    for (int round = 1;; ++round) {
      WEFT_TRY(run_round());
      if (wrong_ > 0) return {};  // the others see it at the next agreement, or as a peer that left
      if (round % kRoundsPerAgreement != 0) continue;
      std::uint8_t over = communicator_.rank() == 0 && Clock::now() >= end_ ? 1 : 0;
      WEFT_TRY(communicator_.broadcast(&over, &over, 1, DataType::UInt8));
      if (over != 0) return communicator_.close();
    }
  }

  std::uint64_t calls() const { return calls_; }
  std::uint64_t wrong() const { return wrong_; }
  const std::string& first_wrong() const { return first_wrong_; }

 private:
  // Some calls that are in flight together, or one that blocks.
  Status run_round() {
    const int together = 1 + draw_.number(kInFlight);
    std::vector<Workload> workloads;
    std::vector<Case> cases;
    for (int i = 0; i < together; ++i) {
      cases.push_back(draw_.next());
      Memory& memory = memory_[static_cast<std::size_t>(i)];
      workloads.emplace_back(cases.back(), Place{communicator_.rank(), communicator_.size()},
                             pattern_of(cases.back().call), Buffers{memory.in, memory.out});
      if (cases.back().call.collective != Collective::Barrier) workloads.back().fill(workloads.back().calls().front());
    }
    if (together == 1) {
      WEFT_TRY(communicator_.run(workloads.front().calls().front()));
    } else {
      std::vector<Work> works;
      for (const Workload& workload : workloads) works.push_back(communicator_.start(workload.calls().front()));
      for (std::size_t left = works.size(); left > 0; --left) {
        const auto at = static_cast<std::ptrdiff_t>(draw_.number(static_cast<int>(left)));
        WEFT_TRY(works[static_cast<std::size_t>(at)].wait());
        works.erase(works.begin() + at);
      }
    }
    for (std::size_t i = 0; i < workloads.size(); ++i) check(cases[i], workloads[i]);
    calls_ += workloads.size();
    return {};
  }

  void check(const Case& what, const Workload& workload) {
    if (what.call.collective == Collective::Barrier) return;
    const Verdict verdict = workload.check(workload.calls().front());
    if (verdict.wrong > 0 && wrong_ == 0)
      first_wrong_ =
          fmt::format("{} of {} x {}{}, call {}: {}", name_of(what), what.call.count, to_string(what.call.dtype),
                      what.in_place ? " in place" : "", calls_, verdict.first_wrong);
    wrong_ += verdict.wrong;
  }

  const Pattern& pattern_of(const Operation& call) {
    const auto key = std::tuple(call.dtype, call.op, reduces(call.collective));
    auto& pattern = patterns_[key];
    if (pattern == nullptr)
      pattern = std::make_unique<Pattern>(call.dtype, call.op, reduces(call.collective), communicator_.size());
    return *pattern;
  }

  Communicator communicator_;
  Draw draw_;
  std::vector<Memory> memory_;
  Clock::time_point end_;
  std::map<std::tuple<DataType, ReduceOp, bool>, std::unique_ptr<Pattern>> patterns_;
  std::uint64_t calls_ = 0;
  std::uint64_t wrong_ = 0;
  std::string first_wrong_;
};

// Of one buffer: the longest block of a v-variant is three times the mean, and no rank has more than that many.
std::uint64_t buffer_bytes_of(const Arguments& arguments) { return arguments.max_bytes * 3 + 4096; }

Result<Soaker> make_soaker(Communicator& communicator, const Arguments& arguments, int thread, Clock::time_point end) {
  WEFT_TRY_ASSIGN(Communicator own, communicator.split(0, communicator.rank()));
  const std::size_t bytes = buffer_bytes_of(arguments);
  const std::uint64_t seed = arguments.seed * kThreads + static_cast<std::uint64_t>(thread);
  std::vector<Soaker::Memory> memory;
  for (int i = 0; i < kInFlight; ++i) {
    WEFT_TRY_ASSIGN(Buffer in, Buffer::allocate(own, bytes, arguments.symmetric));
    WEFT_TRY_ASSIGN(Buffer out, Buffer::allocate(own, bytes, arguments.symmetric));
    memory.push_back({std::move(in), std::move(out)});
  }
  return Soaker(std::move(own), Draw(seed, arguments, communicator.size()), std::move(memory), end);
}

// "", or " of all_reduce, all_to_all_v": where it is not all.
std::string drawn_kinds(const Arguments& arguments) {
  const std::vector<Kind> kinds = drawable_kinds(arguments);
  if (kinds == all_kinds()) return "";
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.push_back(to_string(kind));
  return fmt::format(" of {}", fmt::join(names, ", "));
}

}  // namespace

Status check_soak(const Arguments& arguments) {
  if (!drawable_kinds(arguments).empty()) return {};
  return Status(Code::InvalidArgument,
                "nothing to soak: no --op given can reduce a --dtype given (bit operators need integers, avg no bool)");
}

std::uint64_t soak_memory_of_a_rank(const Arguments& arguments) {
  return buffer_bytes_of(arguments) * 2 * kInFlight * kThreads;
}

Result<Summary> soak(Communicator& communicator, const Arguments& arguments) {
  const auto end = Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(*arguments.soak_s * 1000));
  std::vector<Soaker> soakers;
  for (int thread = 0; thread < kThreads; ++thread) {
    WEFT_TRY_ASSIGN(Soaker soaker, make_soaker(communicator, arguments, thread, end));
    soakers.push_back(std::move(soaker));
  }
  std::vector<Status> outcomes(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < soakers.size(); ++thread)
      threads.emplace_back([&, thread] { outcomes[thread] = soakers[thread].run(); });
  }
  Summary summary;
  std::uint64_t calls = 0;
  for (std::size_t thread = 0; thread < soakers.size(); ++thread) {
    const Soaker& soaker = soakers[thread];
    calls += soaker.calls();
    summary.wrong += soaker.wrong();
    if (soaker.wrong() > 0)
      base::complain("weft-bench", fmt::format("rank {}, thread {}, --seed {}: {}", communicator.rank(), thread,
                                               arguments.seed, soaker.first_wrong()));
  }
  for (const Status& outcome : outcomes)
    if (!outcome.ok() && summary.wrong == 0) return outcome;
  if (communicator.rank() == 0)
    summary.told = base::write_stdout(fmt::format(
        "soak: {} calls{} on {} threads of each of {} ranks in {} s, seed {}: {} wrong\n", calls,
        drawn_kinds(arguments), kThreads, communicator.size(), *arguments.soak_s, arguments.seed, summary.wrong));
  return summary;
}

}  // namespace weft::bench
