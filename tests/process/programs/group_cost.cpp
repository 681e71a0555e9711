// What groups of all ranks cost: makes ever more of them, by the members' list, runs a collective in the first ten of
// them, and prints on rank 0 what Communicator::cost() and the system say. Exit 0: they agree.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <vector>

#include "weft/weft.hpp"

namespace {

int entries_of(const char* folder) {
  const std::filesystem::directory_iterator entries(folder);
  return static_cast<int>(std::distance(begin(entries), end(entries))) - 1;  // without the folder itself
}
int descriptors() { return entries_of("/proc/self/fd"); }
int threads() { return entries_of("/proc/self/task") + 1; }

using Groups = std::vector<weft::Communicator>;

weft::Status make_groups(weft::Communicator& world, std::size_t wanted, Groups& groups) {
  std::vector<int> members(static_cast<std::size_t>(world.size()));
  std::iota(members.begin(), members.end(), 0);
  while (groups.size() < wanted) {
    WEFT_TRY_ASSIGN(weft::Communicator group, world.split_members(members));
    groups.push_back(std::move(group));
  }
  return {};
}

weft::Status use(Groups& groups, std::size_t used) {
  for (std::size_t group = 0; group < std::min(used, groups.size()); ++group) {
    std::vector<float> data(1024, 1);
    WEFT_TRY(groups[group].all_reduce(data.data(), data.data(), data.size(), weft::DataType::Float32));
  }
  return {};
}

void print(const Groups& groups, const char* what) {
  weft::Cost all;
  for (const weft::Communicator& group : groups) {
    const weft::Cost cost = group.cost();
    all.group_bytes += cost.group_bytes;
    all.plan_bytes += cost.plan_bytes;
    all.scratch_bytes += cost.scratch_bytes;
    all.lane_bytes += cost.lane_bytes;
    all.lanes += cost.lanes;
    all.descriptors += cost.descriptors;
    all.threads += cost.threads;
    all.shared = cost.shared;
  }
  std::printf("%6zu  %-9s  %8.1f  %8.1f  %8.1f  %9.1f  %5d  %7.1f  %11d  %11d  %7d\n", groups.size(), what,
              static_cast<double>(all.group_bytes) / 1024, static_cast<double>(all.plan_bytes) / 1024,
              static_cast<double>(all.scratch_bytes) / 1024, static_cast<double>(all.lane_bytes) / 1024, all.lanes,
              static_cast<double>(all.shared.model_bytes) / 1024, all.shared.connections, all.shared.descriptors,
              all.shared.threads);
}

weft::Status run(bool* agree) {
  WEFT_TRY_ASSIGN(const weft::Options options, weft::Options::from_environment());
  WEFT_TRY_ASSIGN(weft::Communicator world, weft::Communicator::create(options));
  const bool prints = world.rank() == 0;
  if (prints)
    std::printf(
        "groups  state      group/KiB plans/KiB scratch/KiB lanes/KiB lanes model/KiB connections descriptors "
        "threads\n");
  Groups groups;
  for (const std::size_t wanted : {1, 10, 1000}) {
    WEFT_TRY(world.barrier());
    WEFT_TRY(world.barrier());  // what the first connected to has been taken in by all
    const int descriptors_before = descriptors();
    const int threads_before = threads();
    WEFT_TRY(make_groups(world, wanted, groups));
    *agree = *agree && descriptors() == descriptors_before && threads() == threads_before;
    if (prints) print(groups, "made");
    for (const weft::Communicator& group : groups)
      *agree = *agree && group.cost().group_bytes <= 16 * 1024 && group.cost().descriptors == 0;
    WEFT_TRY(use(groups, 10));
    if (prints) print(groups, "10 used");
  }
  WEFT_TRY(world.barrier());
  return {};
}

}  // namespace

int main() {
  bool agree = true;
  const weft::Status status = run(&agree);
  if (!status.ok()) return std::fprintf(stderr, "%s\n", status.to_string().c_str()), 1;
  if (!agree) return std::fprintf(stderr, "a group took a descriptor, a thread or more than 16 KiB\n"), 3;
  return 0;
}
