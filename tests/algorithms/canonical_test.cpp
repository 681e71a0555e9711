// The order of Numerics::Invariant, and who keeps to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "algorithms/canonical_order.hpp"
#include "algorithms/reduction_trees.hpp"
#include "algorithms/verify.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

// "((0 1) 2)": the joins as a stack machine makes them.
std::string order_of(int size) {
  std::vector<std::string> open;
  for (int rank = 0; rank < size; ++rank) {
    std::string value = std::to_string(rank);
    for (int joins = joins_after(rank, size); joins > 0; --joins) {
      value = "(" + open.back() + " " + value + ")";
      open.pop_back();
    }
    open.push_back(value);
  }
  EXPECT_EQ(open.size(), 1U) << size;
  return open.front();
}

TEST(CanonicalOrder, is_one_tree_over_all_ranks) {
  EXPECT_EQ(order_of(1), "0");
  EXPECT_EQ(order_of(2), "(0 1)");
  EXPECT_EQ(order_of(3), "((0 1) 2)");
  EXPECT_EQ(order_of(4), "((0 1) (2 3))");
  EXPECT_EQ(order_of(5), "(((0 1) 2) (3 4))");
  EXPECT_EQ(order_of(6), "(((0 1) (2 3)) (4 5))");
  EXPECT_EQ(order_of(7), "(((0 1) (2 3)) ((4 5) 6))");
  for (int size = 1; size <= 300; ++size) order_of(size);
}

// Hosts of 2^k ranks need to send one value only.
TEST(CanonicalOrder, aligned_blocks_are_subtrees) {
  for (const int block : {2, 4, 8}) {
    for (int blocks = 1; blocks <= 12; ++blocks) {
      const std::string whole = order_of(block * blocks);
      for (int first = 0; first < block * blocks; first += block) {
        std::string part = order_of(block);
        std::string moved;
        for (std::size_t at = 0; at < part.size();) {
          if (part[at] < '0' || part[at] > '9') {
            moved += part[at++];
            continue;
          }
          moved += std::to_string(first + part[at++] - '0');  // blocks are of ten ranks at most
        }
        EXPECT_NE(whole.find(moved), std::string::npos) << blocks << " blocks of " << block << " from " << first;
      }
    }
  }
}

// A group whose rings do not go in the order of the ranks.
Group reversed(int size) {
  Group group = flat_group(size);
  for (auto& ring : group.rings) std::reverse(ring.begin(), ring.end());
  return group;
}

bool supported(const Algorithm& algorithm, int size) {
  return algorithm.unsupported(flat_group(size), {algorithm.collective, DataType::Float32, ReduceOp::Sum, 0, 1000})
      .empty();
}

TEST(CanonicalOrder, algorithms_that_claim_it_keep_to_it_for_any_number_of_ranks) {
  int claims = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (!algorithm->invariant) continue;
    ++claims;
    ASSERT_TRUE(reduces(algorithm->collective)) << algorithm->name;
    for (int size = 1; size <= 33; ++size) {
      if (!supported(*algorithm, size)) continue;
      for (const bool in_place : {false, true}) {
        const BuildOptions build = {
            .root = size / 2, .replicas = algorithm->replicable ? 2 : 1, .in_place = in_place, .canonical = true};
        for (const Group& group : {flat_group(size), reversed(size)}) {
          const Status proof = verify(build_schedule(*algorithm, group, build), {.canonical = true});
          EXPECT_TRUE(proof.ok()) << to_string(algorithm->collective) << '/' << algorithm->name << " of " << size
                                  << " ranks: " << proof.message();
        }
      }
    }
  }
  EXPECT_GE(claims, 6);
}

Group three_hosts(int size) {
  Group group = flat_group(size);
  group.hosts.assign(3, {});
  for (int rank = 0; rank < size; ++rank) group.hosts[static_cast<std::size_t>(rank % 3)].push_back(rank);
  std::erase_if(group.hosts, [](const auto& host) { return host.empty(); });
  return group;
}

// Otherwise it would be left out for nothing.
TEST(CanonicalOrder, algorithms_that_do_not_claim_it_do_not_keep_to_it) {
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->invariant || !reduces(algorithm->collective)) continue;
    bool always = true;
    for (int size = 2; size <= 17; ++size) {
      const Schedule schedule = build_schedule(*algorithm, three_hosts(size), {.canonical = true});
      ASSERT_TRUE(verify(schedule).ok()) << algorithm->name;
      const Status proof = verify(schedule, {.canonical = true});
      if (!proof.ok()) {
        always = false;
        EXPECT_NE(proof.message().find("another order than that of Numerics::Invariant"), std::string_view::npos)
            << proof.message();
      }
    }
    EXPECT_FALSE(always) << to_string(algorithm->collective) << '/' << algorithm->name;
  }
}

}  // namespace
}  // namespace weft::algorithms
