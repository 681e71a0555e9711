// Assignment of least cost: devices are added one by one, each by the cheapest chain of reassignments (Bellman-Ford on
// the few nodes there are).
#include "topology/advice/assign_nics.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace weft::topology::advice {
namespace {

constexpr long long kFar = std::numeric_limits<long long>::max() / 4;

class Assignment {
 public:
  Assignment(std::vector<std::vector<long long>> cost, std::size_t nics, std::size_t capacity)
      : cost_(std::move(cost)), of_(cost_.size(), -1), load_(nics, 0), capacity_(capacity) {}

  // The NIC of each device, -1 for none.
  std::vector<int> solve() {
    for (std::size_t device = 0; device < cost_.size(); ++device) place(device);
    return of_;
  }

 private:
  // distance_[n]: the least cost of freeing a place on NIC n for `device`; from_[n]: the NIC whose device moves to n.
  void place(std::size_t device) {
    distance_ = cost_[device];
    from_.assign(load_.size(), -1);
    mover_.assign(load_.size(), -1);
    for (std::size_t round = 0; round < load_.size(); ++round)
      if (!relax()) break;
    int best = -1;
    for (std::size_t n = 0; n < load_.size(); ++n)
      if (load_[n] < capacity_ && distance_[n] < kFar &&
          (best < 0 || distance_[n] < distance_[static_cast<std::size_t>(best)]))
        best = static_cast<int>(n);
    if (best < 0) return;
    ++load_[static_cast<std::size_t>(best)];
    int at = best;
    for (std::size_t steps = 0; from_[static_cast<std::size_t>(at)] >= 0 && steps <= load_.size(); ++steps) {
      of_[static_cast<std::size_t>(mover_[static_cast<std::size_t>(at)])] = at;
      at = from_[static_cast<std::size_t>(at)];
    }
    of_[device] = at;
  }

  bool relax() {
    bool changed = false;
    for (std::size_t other = 0; other < of_.size(); ++other) {
      if (of_[other] < 0) continue;
      const auto from = static_cast<std::size_t>(of_[other]);
      for (std::size_t to = 0; to < load_.size(); ++to) {
        if (to == from || cost_[other][to] >= kFar || distance_[from] >= kFar) continue;
        const long long through = distance_[from] + cost_[other][to] - cost_[other][from];
        if (through >= distance_[to]) continue;
        distance_[to] = through;
        from_[to] = static_cast<int>(from);
        mover_[to] = static_cast<int>(other);
        changed = true;
      }
    }
    return changed;
  }

  std::vector<std::vector<long long>> cost_;
  std::vector<int> of_;
  std::vector<std::size_t> load_;
  std::size_t capacity_;
  std::vector<long long> distance_;
  std::vector<int> from_;
  std::vector<int> mover_;
};

bool known(PathClass path_class) { return path_class < PathClass::Unknown; }

}  // namespace

std::vector<NicShare> assign_nics(PathFinder& finder, const std::vector<int>& devices, const std::vector<int>& nics) {
  std::vector<NicShare> shares(devices.size());
  if (devices.empty() || nics.empty()) return shares;
  std::vector<std::vector<PathClass>> classes(devices.size());
  std::vector<std::vector<long long>> cost(devices.size());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::vector<Path> paths = finder.best_paths(devices[d], nics);
    for (std::size_t n = 0; n < nics.size(); ++n) {
      classes[d].push_back(paths[n].path_class);
      // Between like places, the k-th device gets the k-th NIC: what rails and people expect.
      const auto offset = static_cast<long long>(d * nics.size()) - static_cast<long long>(n * devices.size());
      const long long distance = static_cast<long long>(paths[n].path_class) * 1'000'000'000'000 +
                                 latency_ps(paths[n].latency_us) / 100'000 * 100'000'000 + std::llabs(offset);
      cost[d].push_back(known(paths[n].path_class) ? distance : kFar);
    }
  }
  const std::size_t capacity = (devices.size() + nics.size() - 1) / nics.size();
  const std::vector<int> first = Assignment(cost, nics.size(), capacity).solve();
  std::vector<bool> taken(nics.size(), false);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    if (first[d] < 0) continue;
    const auto nic = static_cast<std::size_t>(first[d]);
    taken[nic] = true;
    shares[d] = {{nics[nic]}, classes[d][nic]};
  }
  for (std::size_t n = 0; n < nics.size(); ++n) {
    if (taken[n]) continue;
    int best = -1;
    for (std::size_t d = 0; d < devices.size(); ++d) {
      if (shares[d].nics.empty() || classes[d][n] > shares[d].farthest) continue;
      if (best < 0 || shares[d].nics.size() < shares[static_cast<std::size_t>(best)].nics.size() ||
          (shares[d].nics.size() == shares[static_cast<std::size_t>(best)].nics.size() &&
           cost[d][n] < cost[static_cast<std::size_t>(best)][n]))
        best = static_cast<int>(d);
    }
    if (best >= 0) shares[static_cast<std::size_t>(best)].nics.push_back(nics[n]);
  }
  return shares;
}

}  // namespace weft::topology::advice
