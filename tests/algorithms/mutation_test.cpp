// The verifier against an independent judge. Schedules are damaged at random (a step dropped, swapped, doubled, sent
// elsewhere, moved to other chunks, a wait left out) and then both proved and executed. What execution ever finds
// wrong, verify must have refused; what verify refuses as hanging or wrong, execution must find wrong; all other
// refusals must break a rule that execution cannot see.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "algorithms/verify.hpp"
#include "tests/algorithms/support/execution.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

std::uint64_t seed_from_environment() {
  const char* text = std::getenv("WEFT_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20240807;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  // Damages one step; returns what it did, "" if there was nothing to damage.
  std::string mutate(Schedule& schedule) {
    RankProgram& program = schedule.ranks[below(schedule.ranks.size())];
    auto& steps = program.channels[below(program.channels.size())];
    if (steps.empty()) return "";
    const std::size_t i = below(steps.size());
    switch (below(8)) {
      case 0:
        return drop(steps, i);
      case 1:
        return swap(steps, i, (i + 1) % steps.size());
      case 2:
        return swap(steps, i, below(steps.size()));
      case 3:
        return duplicate(steps, i);
      case 4:
        return retarget(schedule, steps[i]);
      case 5:
        return move_chunks(program, steps[i]);
      case 6:
        return drop_wait(steps);
      default:
        return flip_final(schedule, steps[i]);
    }
  }

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

 private:
  // Waits keep naming the steps that they named.
  static void renumber(std::vector<Step>& steps, std::size_t at, int shift) {
    for (Step& step : steps)
      if (step.wait >= static_cast<int>(at) && step.wait >= 0) step.wait += shift;
  }
  static std::string drop(std::vector<Step>& steps, std::size_t i) {
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
    renumber(steps, i + 1, -1);
    return "drop";
  }
  static std::string swap(std::vector<Step>& steps, std::size_t i, std::size_t k) {
    std::swap(steps[i], steps[k]);
    for (Step& step : steps) {
      if (step.wait == static_cast<int>(i)) {
        step.wait = static_cast<int>(k);
      } else if (step.wait == static_cast<int>(k)) {
        step.wait = static_cast<int>(i);
      }
    }
    return "swap";
  }
  static std::string duplicate(std::vector<Step>& steps, std::size_t i) {
    const Step copy = steps[i];
    renumber(steps, i + 1, 1);
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(i) + 1, copy);
    return "duplicate";
  }
  std::string retarget(const Schedule& schedule, Step& step) {
    if (step.peer < 0) return "";
    std::int32_t& target = step.to >= 0 && below(2) == 0 ? step.to : step.peer;
    target = static_cast<std::int32_t>(below(static_cast<std::size_t>(schedule.size)));
    return "retarget";
  }
  std::string move_chunks(const RankProgram& program, Step& step) {
    const std::array<Span*, 4> spans = {&step.dst, &step.src, &step.src2, &step.landing};
    Span& span = *spans[below(spans.size())];
    if (span.space == Space::None) return "";
    switch (below(5)) {
      case 0:
        ++span.first;
        break;
      case 1:
        --span.first;
        break;
      case 2:
        span.count += below(2) == 0 ? 1 : -1;
        break;
      case 3:
        span.slot = static_cast<std::int32_t>(below(program.scratch.size() + 1));
        break;
      default:
        span.space = static_cast<Space>(1 + below(3));
        break;
    }
    return "move chunks";
  }
  std::string drop_wait(std::vector<Step>& steps) {
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i].wait >= 0) waiting.push_back(i);
    if (waiting.empty()) return "";
    const std::size_t i = waiting[below(waiting.size())];
    if (steps[i].kind == StepKind::Wait) {
      drop(steps, i);
    } else {
      steps[i].wait = -1;
    }
    return "drop wait";
  }
  static std::string flip_final(const Schedule& schedule, Step& step) {
    const bool reduces_here =
        step.kind == StepKind::Reduce || step.kind == StepKind::RecvReduce || step.kind == StepKind::RecvReduceSend;
    if (!reduces(schedule.collective) || !reduces_here) return "";
    step.final_reduction = !step.final_reduction;
    return "flip final";
  }

  std::mt19937_64 random_;
};

// What execution finds in several sizes, orders and send models; "" if nothing.
std::string execute(const Schedule& schedule, std::uint64_t seed) {
  const auto chunks = static_cast<std::uint64_t>(schedule.chunks_per_block);
  for (std::uint64_t i = 0; i < 18; ++i) {
    const std::array<std::uint64_t, 3> elements = {3 * chunks + 1, 2 * chunks, 5 * chunks - 1};
    const std::array<int, 3> slots = {0, 1, -1};
    const bool barrier = schedule.collective == Collective::Barrier;
    test::Execution execution(schedule, {barrier ? 1 : elements[i / 3 % 3], slots[i % 3], seed + i});
    std::string failure = execution.run();
    if (!failure.empty()) return failure;
  }
  return "";
}

// The rule that a refusal names, if it is one that execution cannot see broken, or not in every order; else "".
std::string_view rule_beyond_execution(std::string_view message) {
  for (const std::string_view rule :
       {"may still read it", "that nothing wrote", "belongs to channel", "by another tree", "landing", "overlaps",
        "writes to Input", "of different sizes", "of other chunks", "which is not an earlier one",
        "which sends nothing", "which only scratch has"})
    if (message.find(rule) != std::string_view::npos) return rule;
  return "";
}

TEST(Mutation, what_execution_finds_wrong_verify_has_refused) {
  const std::uint64_t seed = seed_from_environment();
  fmt::print("seed {} (WEFT_TEST_SEED={} replays it)\n", seed, seed);
  Mutator mutator(seed);
  int mutants = 0;
  int caught = 0;
  int caught_and_refused = 0;
  int refused_only = 0;
  std::map<std::string_view, int> rules;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const int size : {2, 3, 4, 5, 8}) {
      for (int variant = 0; variant < 4; ++variant) {
        BuildOptions options;
        options.in_place = variant % 2 == 1;
        options.replicas = variant >= 2 && algorithm->replicable ? 2 : 1;
        options.fuse = variant != 2;
        options.root = has_root(algorithm->collective) ? variant % size : 0;
        const Schedule schedule = build_schedule(*algorithm, flat_group(size), options);
        for (int i = 0; i < 30; ++i) {
          Schedule mutant = schedule;
          const std::string mutation = mutator.mutate(mutant);
          if (mutation.empty() || mutant == schedule) continue;
          ++mutants;
          const Status proof = verify(mutant);
          const std::string failure = execute(mutant, seed + static_cast<std::uint64_t>(mutants) * 100);
          const std::string what = fmt::format("{} {}/{} of {} ranks, variant {}: execution: {}; verify: {}", mutation,
                                               to_string(algorithm->collective), algorithm->name, size, variant,
                                               failure.empty() ? "right" : failure, proof.to_string());
          if (!failure.empty()) {
            ++caught;
            if (!proof.ok()) ++caught_and_refused;
            EXPECT_FALSE(proof.ok()) << what;
          } else if (!proof.ok()) {
            ++refused_only;
            ++rules[rule_beyond_execution(proof.message())];
            EXPECT_NE(rule_beyond_execution(proof.message()), "") << what;
          }
        }
      }
    }
  }
  fmt::print("{} mutants; execution caught {}, of which verify refused {} ({:.2f} %); verify alone refused {}:\n",
             mutants, caught, caught_and_refused, 100.0 * caught_and_refused / caught, refused_only);
  for (const auto& [rule, count] : rules) fmt::print("  {:5} {}\n", count, rule);
  EXPECT_GT(caught, mutants / 3);
}

}  // namespace
}  // namespace weft::algorithms
