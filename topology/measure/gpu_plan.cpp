// Near and far NUMA nodes, pairs, and all at once.
#include "topology/measure/gpu_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "topology/measure/cpus.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kMaxPairs = 256;

class Planner {
 public:
  Planner(const Survey& survey, Locality& locality, std::string_view vendor) : survey_(survey), locality_(locality) {
    for (int numa : locality.numas(0))
      if (!measuring_cpus(survey, locality.node(numa)).empty()) numas_.push_back(numa);
    for (int gpu : locality.gpus(0)) {
      const Node& node = locality.node(gpu);
      if (node.device.starts_with(vendor) && !node.bus_id.empty()) gpus_.push_back(gpu);
    }
  }

  std::vector<GpuRound> plan() {
    if (!numas_.empty()) alone_with_memory();
    alone_with_each_other();
    all_at_once();
    return std::move(rounds_);
  }

 private:
  // The NUMA nodes from near to far; those that the machine says it is near to stand first.
  std::vector<int> by_distance(int gpu) {
    const std::vector<int> near = locality_.numa_nodes_of(gpu);
    const std::vector<Path> paths = locality_.finder().best_paths(gpu, numas_);
    const auto distance = [&](int numa) {
      const auto position = static_cast<std::size_t>(std::find(numas_.begin(), numas_.end(), numa) - numas_.begin());
      const bool is_near = std::find(near.begin(), near.end(), numa) != near.end();
      return std::tuple(!is_near, paths[position].latency_us, -paths[position].bandwidth_gbs);
    };
    std::vector<int> sorted = numas_;
    std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) { return distance(a) < distance(b); });
    return sorted;
  }

  void alone_with_memory() {
    std::vector<int> farthest;
    for (int gpu : gpus_) {
      const std::vector<int> sorted = by_distance(gpu);
      nearest_.push_back(sorted.front());
      farthest.push_back(sorted.back());
    }
    both_ways(nearest_);
    if (numas_.size() > 1) both_ways(farthest);
  }

  // Between each GPU and its NUMA node of `numas`.
  void both_ways(const std::vector<int>& numas) {
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      add(kToGpu, {{numas[i], gpus_[i]}}, false);
      add(kFromGpu, {{gpus_[i], numas[i]}}, false);
    }
  }

  // Neighbours first, then those two apart, and so on: whatever the time is, each GPU has its turn.
  void alone_with_each_other() {
    std::size_t pairs = 0;
    for (std::size_t distance = 1; distance < gpus_.size(); ++distance)
      for (std::size_t from = 0; from < gpus_.size() && pairs < kMaxPairs; ++from, ++pairs)
        add(kGpuCopy, {{gpus_[from], gpus_[(from + distance) % gpus_.size()]}}, false);
  }

  void all_at_once() {
    if (gpus_.size() < 2) return;
    std::vector<GpuCopy> in;
    std::vector<GpuCopy> out;
    std::vector<GpuCopy> around;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (!nearest_.empty()) in.push_back({nearest_[i], gpus_[i]});
      if (!nearest_.empty()) out.push_back({gpus_[i], nearest_[i]});
      around.push_back({gpus_[i], gpus_[(i + 1) % gpus_.size()]});
    }
    if (!in.empty()) add(kToGpu, std::move(in), true);
    if (!out.empty()) add(kFromGpu, std::move(out), true);
    add(kGpuCopy, std::move(around), true);
  }

  // A GPU by its bus id, a NUMA node by one of its CPUs.
  std::string word_of(int id) const {
    const Node& node = locality_.node(id);
    if (node.kind == NodeKind::Gpu) return node.bus_id;
    return fmt::format("cpu{}", measuring_cpus(survey_, node).front());
  }

  void add(const char* what, std::vector<GpuCopy> copies, bool at_once) {
    std::string line;
    for (const GpuCopy& copy : copies)
      line += fmt::format("{}{}>{}", line.empty() ? "" : " ", word_of(copy.from), word_of(copy.to));
    rounds_.push_back({what, std::move(copies), at_once, std::move(line)});
  }

  const Survey& survey_;
  Locality& locality_;
  std::vector<int> numas_;
  std::vector<int> gpus_;
  std::vector<int> nearest_;  // by position in gpus_
  std::vector<GpuRound> rounds_;
};

}  // namespace

std::vector<GpuRound> gpu_rounds(const Survey& survey, Locality& locality, std::string_view vendor) {
  return Planner(survey, locality, vendor).plan();
}

}  // namespace weft::topology
