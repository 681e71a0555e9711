// Every algorithm of the table, proved: for all small and some odd large rank counts, all roots, ring orders, replicas,
// aliasings and send models. A new algorithm is covered by being there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>

#include "algorithms/verify.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

// Several rings and tree pairs over shuffled ranks, as a topology with many rails would give.
Group shuffled_group(int size) {
  std::mt19937 random(static_cast<unsigned>(size));
  Group group = flat_group(size);
  group.rings.clear();
  group.trees.clear();
  for (int i = 0; i < 3; ++i) {
    std::vector<int> order = group.hosts.front();
    std::shuffle(order.begin(), order.end(), random);
    group.rings.push_back(order);
    for (Tree& tree : double_tree(order)) group.trees.push_back(std::move(tree));
  }
  return group;
}

// Odd ranks in place, even ranks not: what a call looks like in which each rank chose for itself.
Schedule mixed(Schedule apart, const Schedule& in_place) {
  for (std::size_t rank = 1; rank < apart.ranks.size(); rank += 2) apart.ranks[rank] = in_place.ranks[rank];
  return apart;
}

std::string name(const Algorithm& algorithm) {
  return fmt::format("{}/{}", to_string(algorithm.collective), algorithm.name);
}

void expect_proved(const Schedule& schedule, std::string_view what) {
  const Status status = verify(schedule);
  EXPECT_TRUE(status.ok()) << to_string(schedule.collective) << '/' << schedule.algorithm << " of " << schedule.size
                           << " ranks, root " << schedule.root << ", " << schedule.channels << " channels, " << what
                           << ": " << status.to_string();
}

// The dimensions are not multiplied out: besides the plain cases, each size and root takes another combination of the
// others; above 32 ranks the plain cases must do, above 128 the one that has half the ranks in place.
void prove(const Algorithm& algorithm, int size, int root) {
  const Group flat = flat_group(size);
  const Schedule apart = build_schedule(algorithm, flat, {.root = root});
  const Schedule in_place = build_schedule(algorithm, flat, {.root = root, .in_place = true});
  EXPECT_EQ(apart.program_hash, in_place.program_hash);
  if (size <= 128) {
    expect_proved(apart, "not in place");
    expect_proved(in_place, "in place");
  }
  if (size <= 32 || size > 128) expect_proved(mixed(apart, in_place), "partly in place");
  if (size > 32) return;
  const int replicas = algorithm.replicable ? 2 + (size + root) % 2 : 1;
  expect_proved(build_schedule(algorithm, shuffled_group(size),
                               {.root = root, .replicas = replicas, .in_place = (size + root) / 2 % 2 == 1}),
                "shuffled");
}

TEST(AllAlgorithms, are_sorted_and_found_by_name) {
  std::set<std::pair<int, std::string_view>> seen;
  std::pair<int, std::string_view> last = {-1, ""};
  for (const Algorithm* algorithm : all_algorithms()) {
    const std::pair<int, std::string_view> key = {static_cast<int>(algorithm->collective), algorithm->name};
    EXPECT_LT(last, key);
    last = key;
    EXPECT_EQ(find_algorithm(algorithm->collective, algorithm->name), algorithm);
  }
  EXPECT_EQ(find_algorithm(Collective::Barrier, "ring of bells"), nullptr);
  for (int collective = 0; collective < kCollectives; ++collective)
    EXPECT_TRUE(std::any_of(all_algorithms().begin(), all_algorithms().end(), [&](const Algorithm* algorithm) {
      return static_cast<int>(algorithm->collective) == collective;
    })) << to_string(static_cast<Collective>(collective));
}

TEST(AllAlgorithms, are_all_described_in_the_docs) {
  std::ifstream page("docs/schedules.md");
  const std::string text((std::istreambuf_iterator<char>(page)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(text.empty()) << "run this test in the root of the source tree";
  for (const Algorithm* algorithm : all_algorithms())
    EXPECT_NE(text.find(fmt::format("| `{}` |", name(*algorithm))), std::string::npos) << name(*algorithm);
}

TEST(AllAlgorithms, are_proved_for_1_to_32_ranks_and_every_root) {
  for (const Algorithm* algorithm : all_algorithms())
    for (int size = 1; size <= 32 && !testing::Test::HasFailure(); ++size)
      for (int root = 0; root < (has_root(algorithm->collective) ? size : 1); ++root) prove(*algorithm, size, root);
}

TEST(AllAlgorithms, are_proved_for_all_orders_replicas_and_aliasings_of_7_ranks) {
  for (const Algorithm* algorithm : all_algorithms())
    for (const Group& group : {flat_group(7), shuffled_group(7)})
      for (int root = 0; root < (has_root(algorithm->collective) ? 7 : 1); ++root)
        for (int replicas = 1; replicas <= (algorithm->replicable ? 3 : 1); ++replicas)
          for (const bool in_place : {false, true})
            for (const bool hoist : {false, true})
              for (const bool fuse : {false, true})
                expect_proved(
                    build_schedule(
                        *algorithm, group,
                        {.root = root, .replicas = replicas, .in_place = in_place, .hoist_sends = hoist, .fuse = fuse}),
                    fmt::format("hoist {} fuse {} in place {}", hoist, fuse, in_place));
}

class LargeGroups : public testing::TestWithParam<int> {};

TEST_P(LargeGroups, are_proved_too) {
  const int size = GetParam();
  for (const Algorithm* algorithm : all_algorithms())
    for (const int root : has_root(algorithm->collective) ? std::set<int>{0, size / 2, size - 1} : std::set<int>{0})
      prove(*algorithm, size, root);
}

INSTANTIATE_TEST_SUITE_P(AllAlgorithms, LargeGroups, testing::Values(127, 257));

TEST(AllAlgorithms, projected_to_a_rank_have_the_steps_of_the_whole) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const int size : {1, 2, 3, 6, 8, 13}) {
      BuildOptions options = {.root = has_root(algorithm->collective) ? size - 1 : 0,
                              .replicas = algorithm->replicable ? 2 : 1};
      for (const bool in_place : {false, true}) {
        options.in_place = in_place;
        options.only_rank = -1;
        const Schedule whole = build_schedule(*algorithm, shuffled_group(size), options);
        for (int rank = 0; rank < size; ++rank) {
          options.only_rank = rank;
          const Schedule projected = build_schedule(*algorithm, shuffled_group(size), options);
          EXPECT_EQ(projected.program_hash, whole.program_hash) << name(*algorithm);
          for (int other = 0; other < size; ++other) {
            const auto r = static_cast<std::size_t>(other);
            if (other == rank) {
              EXPECT_EQ(projected.ranks[r], whole.ranks[r]) << name(*algorithm) << " rank " << rank;
            } else {
              for (const auto& steps : projected.ranks[r].channels) EXPECT_TRUE(steps.empty());
            }
          }
        }
      }
    }
  }
}

TEST(AllAlgorithms, have_hashes_that_tell_them_apart) {
  std::set<std::uint64_t> hashes;
  std::size_t schedules = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const int size : {2, 3, 4, 5}) {
      for (int root = 0; root < (has_root(algorithm->collective) ? size : 1); ++root) {
        for (int replicas = 1; replicas <= (algorithm->replicable ? 2 : 1); ++replicas) {
          hashes.insert(
              build_schedule(*algorithm, flat_group(size), {.root = root, .replicas = replicas, .only_rank = 0})
                  .program_hash);
          ++schedules;
        }
      }
    }
  }
  EXPECT_EQ(hashes.size(), schedules);
}

}  // namespace
}  // namespace weft::algorithms
