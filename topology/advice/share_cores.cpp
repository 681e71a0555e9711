// Shares of cores.
#include "topology/advice/share_cores.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "topology/cpu_set.hpp"

namespace weft::topology::advice {
namespace {

constexpr int kUsualThreads = 2;  // of a core on x86, where it has several

std::vector<Core> by_siblings(const std::vector<int>& cpus, const std::vector<std::string>& shared_cores) {
  std::map<int, int> first_of;  // CPU -> first CPU of its core
  for (const std::string& list : shared_cores) {
    const std::vector<int> siblings = cpus_of(list);
    for (int cpu : siblings) first_of[cpu] = siblings.front();
  }
  std::map<int, Core> cores;
  for (int cpu : cpus) {
    const auto found = first_of.find(cpu);
    cores[found == first_of.end() ? cpu : found->second].push_back(cpu);
  }
  std::vector<Core> result;
  for (auto& [first, core] : cores) result.push_back(std::move(core));
  return result;
}

// CPUs as positions in their list, joined to sets.
class Joined {
 public:
  explicit Joined(std::size_t count) : first_(count) { std::iota(first_.begin(), first_.end(), std::size_t{0}); }

  void join(std::size_t a, std::size_t b) {
    a = first(a);
    b = first(b);
    first_[std::max(a, b)] = std::min(a, b);
  }

  std::vector<Core> sets(const std::vector<int>& cpus) {
    std::map<std::size_t, Core> by_first;
    for (std::size_t i = 0; i < cpus.size(); ++i) by_first[first(i)].push_back(cpus[i]);
    std::vector<Core> sets;
    for (auto& [first, core] : by_first) sets.push_back(std::move(core));
    return sets;
  }

 private:
  std::size_t first(std::size_t i) {
    while (first_[i] != i) i = first_[i] = first_[first_[i]];
    return i;
  }
  std::vector<std::size_t> first_;
};

// Linux on x86 numbers the first threads of all cores, then the second ones. The distance between them, if a list of
// CPUs can be so: its parts are alike, and all parts of the host as far apart hold all of its CPUs.
std::optional<int> distance_apart(const std::vector<int>& cpus, int threads, int highest_cpu) {
  const std::size_t part = cpus.size() / static_cast<std::size_t>(threads);
  if (part == 0 || cpus.size() % static_cast<std::size_t>(threads) != 0) return std::nullopt;
  const int distance = cpus[part] - cpus[0];
  for (std::size_t i = 0; i + part < cpus.size(); ++i)
    if (cpus[i + part] - cpus[i] != distance) return std::nullopt;
  if (highest_cpu / threads >= distance) return std::nullopt;
  return distance;
}

// Virtual machines and POWER number the threads of a core one after the other: whether the list holds whole cores then.
bool may_adjoin(const std::vector<int>& cpus, int threads) {
  std::map<int, int> count;
  for (int cpu : cpus) ++count[cpu / threads];
  return std::all_of(count.begin(), count.end(), [&](const auto& core) { return core.second == threads; });
}

// Whether the CPUs go on evenly from the first threads to the second ones: nothing shows that these are such.
bool is_even(const std::vector<int>& cpus, int threads) {
  const std::size_t part = cpus.size() / static_cast<std::size_t>(threads);
  const int step = part > 1 ? cpus[1] - cpus[0] : 1;
  return cpus[part] - cpus[part - 1] == step;
}

// The least sets that hold whole cores, if threads are so far apart, or adjoin, or may do either.
Cores joined_by(const std::vector<int>& cpus, int threads, const std::optional<int>& apart, bool adjoin) {
  Cores result;
  Joined joined(cpus.size());
  const std::size_t part = cpus.size() / static_cast<std::size_t>(threads);
  if (adjoin) {
    for (std::size_t i = 1; i < cpus.size(); ++i)
      if (cpus[i] / threads == cpus[i - 1] / threads) joined.join(i - 1, i);
    result.distances.push_back(1);
  }
  if (apart) {
    for (std::size_t i = 0; i + part < cpus.size(); ++i) joined.join(i, i + part);
    result.distances.push_back(*apart);
  }
  result.cores = joined.sets(cpus);
  result.threads = Threads::Unknown;
  return result;
}

// `told`: how many threads a core has; 0 if that is not known.
Cores by_numbering(const std::vector<int>& cpus, int told, const CpuPlace& place) {
  const int threads = told > 0 ? told : kUsualThreads;
  const std::optional<int> apart = distance_apart(cpus, threads, std::max(place.highest_cpu.value_or(0), cpus.back()));
  const bool adjoin = may_adjoin(cpus, threads);
  if (apart && !is_even(cpus, threads)) {
    Cores evident = joined_by(cpus, threads, apart, false);
    evident.threads = Threads::Apart;
    return evident;
  }
  Cores either = joined_by(cpus, threads, apart, adjoin);
  if (told > 0 && either.distances.size() == 1) either.threads = Threads::Told;
  if (either.threads == Threads::Told || either.cores.size() >= place.ranks) return either;
  // Too few to hold for each numbering: then for Linux's on x86, else for the other.
  Cores one = apart ? joined_by(cpus, threads, apart, false) : joined_by(cpus, threads, {}, adjoin);
  if (one.cores.size() >= place.ranks) return one;
  return joined_by(cpus, threads, {}, false);
}

}  // namespace

std::vector<Core> one_by_one(const std::vector<int>& cpus) {
  std::vector<Core> cores;
  for (int cpu : cpus) cores.push_back({cpu});
  return cores;
}

Cores cores_of(const std::vector<int>& cpus, const CpuPlace& place) {
  if (place.shared_cores) return {by_siblings(cpus, *place.shared_cores), Threads::Told, {}};
  const int count = static_cast<int>(cpus.size());
  if (count < 2 || place.cores == count) return {one_by_one(cpus), Threads::Told, {}};
  const int cores = place.cores.value_or(0);
  const int threads = cores > 0 && count % cores == 0 ? count / cores : 0;
  return by_numbering(cpus, threads, place);
}

std::vector<std::string> share_evenly(const std::vector<Core>& cores, std::size_t parts) {
  std::vector<std::string> shares;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = part * cores.size() / parts;
    const std::size_t last = std::max((part + 1) * cores.size() / parts, first + 1);
    std::vector<int> cpus;
    for (std::size_t i = first; i < last && i < cores.size(); ++i)
      cpus.insert(cpus.end(), cores[i].begin(), cores[i].end());
    shares.push_back(cpu_list(std::move(cpus)));
  }
  return shares;
}

}  // namespace weft::topology::advice
