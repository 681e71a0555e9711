// Which pairs are measured, and in which order: what matters most first, until the time is over.
#include "topology/measure/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/deadline.hpp"
#include "topology/facts/readers.hpp"
#include "topology/measure/cache_copies.hpp"
#include "topology/measure/cpus.hpp"
#include "topology/measure/gpu_copies.hpp"
#include "topology/measure/memory_reads.hpp"
#include "topology/sources.hpp"
#include "topology/vendor/vendor.hpp"

namespace weft::topology {
namespace {

constexpr std::string_view kNvidia = "10de:";
constexpr std::string_view kAmd = "1002:";
constexpr int kRounds = 3;
constexpr std::size_t kMaxReaders = 64;  // of one NUMA node: more do not read faster
constexpr std::size_t kMaxGroupPairs = 256;
constexpr std::size_t kLeastBlock = std::size_t{16} << 20;  // of one reader
constexpr std::size_t kLargestBlock = std::size_t{64} << 20;

class Measurer {
 public:
  Measurer(Survey& survey, const MeasureOptions& options)
      : survey_(survey),
        options_(options),
        deadline_(base::Deadline::after_ms(static_cast<int>(options.seconds * 1000))) {}

  void run() {
    collect_numas();
    collect_groups();
    for (std::size_t i = 0; i < numas_.size(); ++i) read_memory({{i, i}}, false);
    for (std::size_t i = 0; i < groups_.size(); ++i) copy({{i, i}}, false);
    for (std::size_t from = 0; from < numas_.size(); ++from)
      for (std::size_t to = 0; to < numas_.size(); ++to)
        if (from != to) read_memory({{from, to}}, false);
    all_memory_at_once();
    copy_between_groups();
    if (skipped_ > 0)
      survey_.remarks.push_back({RemarkKind::Unmeasured, "--measure",
                                 fmt::format("{} measurements were left out: the time was over", skipped_)});
  }

 private:
  struct Part {
    int node;
    std::vector<int> cpus;  // one of each core, allowed ones
  };
  using Pair = std::pair<std::size_t, std::size_t>;  // from, to: positions

  void collect_numas() {
    for (const Node& node : survey_.graph.nodes) {
      if (node.kind != NodeKind::Numa) continue;
      Part part{node.id, measuring_cpus(survey_, node)};
      part.cpus.resize(std::min(part.cpus.size(), kMaxReaders));
      if (!part.cpus.empty()) numas_.push_back(std::move(part));
    }
  }

  void collect_groups() {
    for (const Node& node : survey_.graph.nodes)
      if (node.kind == NodeKind::CoreGroup)
        if (Part part{node.id, measuring_cpus(survey_, node)}; !part.cpus.empty()) groups_.push_back(std::move(part));
  }

  bool in_time() {
    if (!deadline_.passed()) return true;
    ++skipped_;
    return false;
  }

  // The memory of `from` read by the cores of `to`, all pairs together.
  void read_memory(const std::vector<Pair>& pairs, bool at_once) {
    if (!in_time()) return;
    std::size_t readers = 0;
    std::vector<MemoryRead> reads;
    for (const auto& [from, to] : pairs) {
      reads.push_back({numas_[from].cpus, numas_[to].cpus});
      readers = std::max(readers, numas_[to].cpus.size());
    }
    const std::size_t bytes = std::clamp(options_.memory_bytes / readers, kLeastBlock, kLargestBlock);
    const auto gbs = time_reads(reads, bytes, at_once ? 1 : kRounds);
    for (std::size_t i = 0; gbs && i < pairs.size(); ++i)
      add(numas_[pairs[i].first].node, numas_[pairs[i].second].node, kMemoryRead, at_once, (*gbs)[i], std::nullopt);
  }

  void all_memory_at_once() {
    if (numas_.size() < 2) return;
    std::vector<Pair> own;
    std::vector<Pair> next;
    for (std::size_t i = 0; i < numas_.size(); ++i) {
      own.emplace_back(i, i);
      next.emplace_back(i, (i + 1) % numas_.size());
    }
    read_memory(own, true);
    read_memory(next, true);
  }

  void copy(const std::vector<Pair>& pairs, bool at_once) {
    if (!in_time()) return;
    std::vector<CopyPair> cpus;
    for (const auto& [from, to] : pairs) {
      const std::vector<int>& writers = groups_[from].cpus;
      const std::vector<int>& readers = groups_[to].cpus;
      // Where all copy at once, a group's first core writes and its last one reads.
      if ((from == to || at_once) && writers.size() < 2) return;
      cpus.push_back({writers.front(), from == to || at_once ? readers.back() : readers.front()});
      if (cpus.back().writer == cpus.back().reader) return;
    }
    std::vector<CacheCopy> best(pairs.size());
    for (int round = 0; round < (at_once ? 1 : kRounds); ++round) {
      const auto copies = time_copies(cpus);
      if (!copies) return;
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        best[i].gbs = std::max(best[i].gbs, (*copies)[i].gbs);
        best[i].latency_us =
            round == 0 ? (*copies)[i].latency_us : std::min(best[i].latency_us, (*copies)[i].latency_us);
      }
    }
    for (std::size_t i = 0; i < pairs.size(); ++i)
      add(groups_[pairs[i].first].node, groups_[pairs[i].second].node, kCopy, at_once, best[i].gbs, best[i].latency_us);
  }

  void copy_between_groups() {
    if (groups_.size() < 2) return;
    std::size_t pairs = 0;
    for (std::size_t distance = 1; distance < groups_.size(); ++distance)
      for (std::size_t from = 0; from < groups_.size() && pairs < kMaxGroupPairs; ++from, ++pairs)
        copy({{from, (from + distance) % groups_.size()}}, false);
    std::vector<Pair> next;
    for (std::size_t i = 0; i < groups_.size(); ++i) next.emplace_back(i, (i + 1) % groups_.size());
    copy(next, true);
  }

  void add(int from, int to, std::string what, bool at_once, double gbs, std::optional<double> latency_us) {
    survey_.measurements.push_back({from, to, std::move(what), at_once, gbs, latency_us});
  }

  Survey& survey_;
  const MeasureOptions& options_;
  base::Deadline deadline_;
  std::vector<Part> numas_;
  std::vector<Part> groups_;
  int skipped_ = 0;
};

}  // namespace

void measure(Survey& survey, const MeasureOptions& options) {
  Measurer(survey, options).run();
  const Tree tree("/");
  const VendorLibraries libraries = find_vendor_libraries({tree, read_environment(tree)});
  const std::string program = find_helper();
  Locality locality(survey.graph);
  measure_gpus({"cuda", "CUDA", libraries.cuda, program, options.gpu_seconds}, gpu_rounds(survey, locality, kNvidia),
               survey);
  measure_gpus({"hip", "HIP", libraries.hip, program, options.gpu_seconds}, gpu_rounds(survey, locality, kAmd), survey);
}

}  // namespace weft::topology
