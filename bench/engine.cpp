// What the engine costs per step: plans run over endpoints that are always ready, so that only software is measured.
//
// A step is one instruction: a post, or a receive with its reduction.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <vector>

#include "comm/engine.hpp"
#include "comm/plan_cache.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

class ReadyEndpoint final : public transports::Endpoint {
 public:
  bool send(const void* data, std::size_t, const transports::Signature&) override {
    benchmark::DoNotOptimize(data);
    ++sent_;
    return true;
  }
  const void* receive(std::size_t, void*, const transports::Signature&) override { return message_.data(); }
  void release() override {}
  std::uint64_t sends_done() override { return sent_; }
  bool unexpected(transports::Unexpected*) override { return false; }
  bool peek(transports::Unexpected*) override { return false; }
  Status failure() override { return {}; }
  void cancel(int) override {}

 private:
  std::uint64_t sent_ = 0;
  std::array<std::byte, 4096> message_{};
};

class ReadyLanes final : public LaneDirectory {
 public:
  explicit ReadyLanes(Engine& engine) : engine_(engine) {}
  std::uint16_t lane(int peer, int) override {
    const auto index = static_cast<std::size_t>(peer);
    if (lanes_.size() <= index) lanes_.resize(index + 1, kNoLane);
    if (lanes_[index] == kNoLane) lanes_[index] = engine_.add_lane(std::make_unique<ReadyEndpoint>(), peer, 65536);
    return lanes_[index];
  }
  std::uint32_t slices(std::uint16_t lane, std::uint64_t bytes) const override {
    return engine_.lane(lane).slices(bytes);
  }

 private:
  Engine& engine_;
  std::vector<std::uint16_t> lanes_;
};

BoundPlan plan_of(const char* algorithm, int size, std::uint64_t count, LaneDirectory& lanes) {
  const Operation operation = all_reduce(count, DataType::Float32);
  const Schedule schedule =
      build_schedule(*find_algorithm(Collective::AllReduce, algorithm), flat_group(size), {.only_rank = 0});
  BoundPlan plan = bind(schedule, 0, operation, lanes);
  plan.parameter = size;
  plan.reduce = reduce_kernel(operation.dtype, operation.op, false);
  plan.reduce_final = reduce_kernel(operation.dtype, operation.op, true);
  return plan;
}

// The whole plan, again and again; reports nanoseconds per instruction.
void steps(benchmark::State& state, const char* algorithm) {
  const int size = static_cast<int>(state.range(0));
  const auto count = static_cast<std::uint64_t>(state.range(1)) * static_cast<std::uint64_t>(size);
  Engine engine;
  ReadyLanes lanes(engine);
  BoundPlan plan = plan_of(algorithm, size, count, lanes);
  if (!engine.prepare(plan).ok()) return state.SkipWithError("no memory");
  std::vector<float> in(count, 1), out(count);
  ActiveOperation active;
  active.plan = &plan;
  active.in = reinterpret_cast<const std::byte*>(in.data());
  active.out = reinterpret_cast<std::byte*>(out.data());
  std::size_t instructions = 0;
  for (const BoundChannel& channel : plan.channels) instructions += channel.instructions.size();
  for (auto _ : state) {
    engine.start(active);
    engine.advance();
    if (active.channels_left != 0) return state.SkipWithError("did not finish");
  }
  state.counters["instructions"] = static_cast<double>(instructions);
  state.counters["per_step"] =
      benchmark::Counter(static_cast<double>(instructions) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(steps, direct_2_ranks_8_bytes, "direct")->Args({2, 1});
BENCHMARK_CAPTURE(steps, ring_64_ranks_4_byte_chunks, "ring")->Args({64, 1});
BENCHMARK_CAPTURE(steps, ring_64_ranks_1_KiB_chunks, "ring")->Args({64, 256});

void plan_cache_hit(benchmark::State& state) {
  PlanCache cache;
  for (std::uint64_t count = 1; count <= 100; ++count) {
    const Operation operation = all_reduce(count, DataType::Float32);
    cache.insert(PlanKey(operation), footprint(operation, 0, 2));
  }
  std::uint64_t count = 0;
  for (auto _ : state) {
    count = count % 100 + 1;
    benchmark::DoNotOptimize(cache.find(PlanKey(all_reduce(count, DataType::Float32))));
  }
}
BENCHMARK(plan_cache_hit);

}  // namespace
}  // namespace weft::comm

BENCHMARK_MAIN();
