// How fast one core reduces and copies. Bytes per second are payload: the bytes of the result, once, as in the tables
// of bandwidth that docs cite.
//
//   bench_kernels --benchmark_filter=reduce/.*/float32      one type on all instruction sets
//   bench_kernels --benchmark_filter=copy                   Weft's copies beside memcpy and rep movsb
//   bench_kernels --benchmark_filter=slot                   into lines that another core has just read
//
// On a machine shared with others take the best of --benchmark_repetitions=5.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#include "base/copy_bytes.hpp"
#include "comm/kernels/kernels.hpp"
#include "comm/kernels/variants.hpp"

namespace {

using namespace weft;
using namespace weft::comm;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kReduceBytes[] = {1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20};
constexpr std::size_t kCopyBytes[] = {64,       256,       512,       1 << 10, 2 << 10, 4 << 10,  8 << 10,
                                      32 << 10, 128 << 10, 512 << 10, 2 << 20, 8 << 20, 32 << 20, 64 << 20};

// Page-aligned and touched, so that no page is faulted in while the clock runs. The bytes make ordinary numbers of
// every type: some processors are slow on subnormal ones.
class Block {
 public:
  explicit Block(std::size_t bytes) : data_(new (std::align_val_t{kPage}) unsigned char[bytes + kPage]) {
    std::memset(data_.get(), 0x3c, bytes + kPage);
  }
  unsigned char* at(std::size_t offset = 0) { return data_.get() + offset; }

 private:
  struct Delete {
    void operator()(unsigned char* data) const { ::operator delete[](data, std::align_val_t{kPage}); }
  };
  std::unique_ptr<unsigned char[], Delete> data_;
};

void set_rate(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

struct Reduction {
  ReduceKernel kernel;
  std::size_t element_bytes;
  bool in_place;
};

void run_reduction(benchmark::State& state, const Reduction& reduction, std::size_t bytes) {
  Block a(bytes);
  Block b(bytes);
  Block separate(reduction.in_place ? 0 : bytes);
  unsigned char* out = reduction.in_place ? a.at() : separate.at();
  const std::size_t count = bytes / reduction.element_bytes;
  for (auto _ : state) {
    reduction.kernel(out, a.at(), b.at(), count, 3);
    benchmark::ClobberMemory();
  }
  set_rate(state, bytes);
}

void add_reduction(const std::string& name, const Reduction& reduction, std::size_t bytes) {
  benchmark::RegisterBenchmark(fmt::format("reduce/{}/{}", name, bytes).c_str(), run_reduction, reduction, bytes);
}

void add_reductions(const KernelVariant& variant, DataType dtype, ReduceOp op, bool final) {
  const auto& row = (*variant.table)[static_cast<std::size_t>(dtype)];
  const ReduceKernel kernel = row[static_cast<std::size_t>(op)][final ? 1 : 0];
  const std::string name =
      fmt::format("{}/{}/{}{}", variant.name, to_string(dtype), to_string(op), final ? "_final" : "");
  for (const std::size_t bytes : kReduceBytes) {
    add_reduction(name, {kernel, size_of(dtype), false}, bytes);
    // The rest is the same for every kernel: one type shows it.
    if (dtype != DataType::Float32 || op != ReduceOp::Sum) continue;
    add_reduction(name + "/in_place", {kernel, size_of(dtype), true}, bytes);
  }
}

void add_all_reductions() {
  for (const KernelVariant& variant : kernel_variants())
    for (int dtype = 0; dtype < kDataTypes; ++dtype)
      for (int op = 0; op < kReduceOps; ++op) {
        const auto type = static_cast<DataType>(dtype);
        const auto reduce_op = static_cast<ReduceOp>(op);
        if (!valid(type, reduce_op)) continue;
        // Until the last reduction Avg is Sum.
        add_reductions(variant, type, reduce_op, reduce_op == ReduceOp::Avg);
      }
}

using Copy = void (*)(void* dst, const void* src, std::size_t bytes);

void copy_with_memcpy(void* dst, const void* src, std::size_t bytes) { std::memcpy(dst, src, bytes); }

#if defined(__x86_64__)
void copy_with_rep_movsb(void* dst, const void* src, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory");
}
#endif

struct NamedCopy {
  const char* name;
  Copy copy;
};
constexpr NamedCopy kCopies[] = {
    {"copy_bytes", [](void* dst, const void* src, std::size_t bytes) { base::copy_bytes(dst, src, bytes); }},
    {"copy_streaming", [](void* dst, const void* src, std::size_t bytes) { base::copy_streaming(dst, src, bytes); }},
    {"memcpy", copy_with_memcpy},
#if defined(__x86_64__)
    {"rep_movsb", copy_with_rep_movsb},
#endif
};

void run_copy(benchmark::State& state, Copy copy, std::size_t bytes, std::size_t src_offset) {
  Block from(bytes);
  Block to(bytes);
  for (auto _ : state) {
    copy(to.at(), from.at(src_offset), bytes);
    benchmark::ClobberMemory();
  }
  set_rate(state, bytes);
}

// The writer fills a slot whose lines the reader, on another core, has read: the copy must first take them away. Only
// the writer's time is counted; it is taken by the clock because the waiting is left out.
void run_slot(benchmark::State& state, Copy copy, std::size_t bytes) {
  Block from(bytes);
  Block slot(bytes);
  std::atomic<std::uint64_t> written{0};
  std::atomic<std::uint64_t> consumed{0};
  constexpr std::uint64_t kStop = ~std::uint64_t{0};
  std::thread reader([&] {
    unsigned char sum = 0;
    for (std::uint64_t next = 1;; ++next) {
      std::uint64_t seen;
      while ((seen = written.load(std::memory_order_acquire)) < next) std::this_thread::yield();
      if (seen == kStop) break;
      for (std::size_t i = 0; i < bytes; i += 64) sum ^= slot.at()[i];
      benchmark::DoNotOptimize(sum);
      consumed.store(next, std::memory_order_release);
    }
  });
  std::uint64_t sequence = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    copy(slot.at(), from.at(), bytes);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // the stores have left the core
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(elapsed.count());
    written.store(++sequence, std::memory_order_release);
    while (consumed.load(std::memory_order_acquire) < sequence) std::this_thread::yield();
  }
  written.store(kStop, std::memory_order_release);
  reader.join();
  set_rate(state, bytes);
}

void add_all_copies() {
  for (const NamedCopy& named : kCopies) {
    for (const std::size_t bytes : kCopyBytes)
      for (const std::size_t src_offset : {0, 20})
        benchmark::RegisterBenchmark(
            fmt::format("copy/{}/{}{}", named.name, bytes, src_offset ? "/unaligned" : "").c_str(), run_copy,
            named.copy, bytes, src_offset);
    for (const std::size_t bytes : {1 << 10, 2 << 10, 4 << 10, 8 << 10, 32 << 10, 128 << 10, 512 << 10})
      benchmark::RegisterBenchmark(fmt::format("slot/{}/{}", named.name, bytes).c_str(), run_slot, named.copy, bytes)
          ->UseManualTime();
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
  add_all_reductions();
  add_all_copies();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return EXIT_SUCCESS;
}
