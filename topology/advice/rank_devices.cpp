// GPUs as programs count them, or parts of the host that have CPUs.
#include "topology/advice/rank_devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/plural.hpp"
#include "topology/cpu_set.hpp"
#include "topology/device_kinds.hpp"
#include "topology/gpu_order.hpp"

namespace weft::topology::advice {
namespace {

RankDevices gpus_of(const Survey& survey, const Locality& locality, int host) {
  const std::vector<int> all = accelerators(locality, host);
  const VisibleGpus visible = visible_gpus(survey, host, all);
  RankDevices ranks{visible.order.gpus, {}, {}, visible.order.cuda_must_be_told};
  if (!visible.chosen.empty())
    ranks.notes.push_back(fmt::format("{}: {} of {}, counted in its order", fmt::join(visible.chosen, ", "),
                                      visible.order.gpus.size(), base::plural(all.size(), "GPU")));
  for (const std::string& variable : visible.passed)
    ranks.notes.push_back(
        fmt::format("{} names none of these GPUs, or other things, and is left out of account", variable));
  if (visible.order.by == CountedBy::BusId && all.size() > 1)
    ranks.notes.emplace_back("how the driver numbers the GPUs is not told: they are counted by PCI bus id");
  return ranks;
}

// Some memory is near several core groups: the smaller ones have their CPUs first, and a group without any left is no
// rank.
void add_core_groups(const Locality& locality, int host, RankDevices& ranks) {
  std::vector<std::pair<int, std::vector<int>>> groups;
  for (int group : locality.core_groups(host))
    if (!locality.node(group).cpus.empty()) groups.emplace_back(group, cpus_of(locality.node(group).cpus));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::set<int> taken;
  for (const auto& [group, cpus] : groups) {
    std::vector<int> left;
    std::set_difference(cpus.begin(), cpus.end(), taken.begin(), taken.end(), std::back_inserter(left));
    taken.insert(left.begin(), left.end());
    const Node& node = locality.node(group);
    if (left.empty()) {
      ranks.notes.push_back(fmt::format("{} is no rank of its own: others have its CPUs ({})", node.name, node.cpus));
      continue;
    }
    ranks.devices.push_back(group);
    if (left.size() == cpus.size()) continue;
    const std::string& part = ranks.parts[group] = cpu_list(std::move(left));
    ranks.notes.push_back(
        fmt::format("{} has of its CPUs ({}) those that are in no other ({})", node.name, node.cpus, part));
  }
  std::sort(ranks.devices.begin(), ranks.devices.end());
}

// Files of NCCL tell the CPUs of NUMA nodes, and nothing smaller.
void add_numa_nodes(const Locality& locality, int host, RankDevices& ranks) {
  for (int numa : locality.numas(host))
    if (!locality.node(numa).cpus.empty()) ranks.devices.push_back(numa);
}

}  // namespace

std::vector<int> accelerators(const Locality& locality, int host) {
  std::vector<int> found = locality.gpus(host);
  std::erase_if(found, [&](int gpu) { return is_graphics_inside_cpu(locality.node(gpu).device); });
  return found.empty() ? locality.gpus(host) : found;
}

RankDevices rank_devices(const Survey& survey, const Locality& locality, int host,
                         const std::optional<std::vector<int>>& allowed) {
  if (!locality.gpus(host).empty()) return gpus_of(survey, locality, host);
  RankDevices ranks;
  add_core_groups(locality, host, ranks);
  if (ranks.devices.empty()) add_numa_nodes(locality, host, ranks);
  std::erase_if(ranks.devices, [&](int device) {
    const auto part = ranks.parts.find(device);
    const std::vector<int> cpus = cpus_of(part != ranks.parts.end() ? part->second : locality.node(device).cpus);
    return allowed && std::none_of(cpus.begin(), cpus.end(),
                                   [&](int cpu) { return std::binary_search(allowed->begin(), allowed->end(), cpu); });
  });
  if (ranks.devices.empty()) ranks.devices = {locality.machine(host)};
  return ranks;
}

}  // namespace weft::topology::advice
