// Hierarchical algorithms on hosts of all shapes: proved, and what crosses the links between hosts counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "algorithms/machine.hpp"
#include "algorithms/verify.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::algorithms {
namespace {

// Ranks in blocks: hosts of these many ranks.
Group hosts_of(const std::vector<int>& sizes) {
  const int size = std::accumulate(sizes.begin(), sizes.end(), 0);
  Group group = flat_group(size);
  group.hosts.clear();
  int next = 0;
  for (const int ranks : sizes) {
    group.hosts.emplace_back(static_cast<std::size_t>(ranks));
    std::iota(group.hosts.back().begin(), group.hosts.back().end(), next);
    next += ranks;
  }
  return group;
}

// Rank r on host r % hosts.
Group cyclic(int hosts, int size) {
  Group group = flat_group(size);
  group.hosts.assign(static_cast<std::size_t>(hosts), {});
  for (int rank = 0; rank < size; ++rank) group.hosts[static_cast<std::size_t>(rank % hosts)].push_back(rank);
  return group;
}

std::vector<Group> shapes() {
  std::vector<Group> groups;
  for (const std::vector<int>& sizes : std::vector<std::vector<int>>{{2, 2},
                                                                     {2, 2, 2, 2},
                                                                     {4, 4},
                                                                     {3, 3, 3},
                                                                     {7, 8},
                                                                     {1, 3},
                                                                     {3, 1},
                                                                     {5, 3},
                                                                     {1, 1, 2},
                                                                     {8, 8, 8, 8},
                                                                     {2, 2, 2, 2, 2},
                                                                     {4, 4, 4, 4, 4, 4},
                                                                     {1, 2, 3, 4, 5, 6, 7}})
    groups.push_back(hosts_of(sizes));
  groups.push_back(cyclic(2, 8));
  groups.push_back(cyclic(3, 10));
  return groups;
}

std::vector<const Algorithm*> hierarchical() {
  std::vector<const Algorithm*> found;
  for (const Algorithm* algorithm : all_algorithms())
    if (algorithm->name.starts_with("hierarchical")) found.push_back(algorithm);
  return found;
}

std::string text_of(const Algorithm& algorithm, const Group& group) {
  std::string text = std::string(to_string(algorithm.collective)) + '/' + std::string(algorithm.name) + " on";
  for (const auto& host : group.hosts) text += ' ' + std::to_string(host.size());
  return text;
}

TEST(Hierarchical, algorithms_are_proved_on_hosts_of_all_shapes) {
  ASSERT_GE(hierarchical().size(), 4U);
  for (const Algorithm* algorithm : hierarchical()) {
    for (const Group& group : shapes()) {
      for (const int replicas : {1, 2}) {
        for (const bool in_place : {false, true}) {
          const Status proof = verify(build_schedule(*algorithm, group, {.replicas = replicas, .in_place = in_place}));
          EXPECT_TRUE(proof.ok()) << text_of(*algorithm, group) << ": " << proof.message();
        }
      }
    }
  }
}

TEST(Hierarchical, v_variants_whose_counts_all_ranks_know_are_served) {
  for (const Collective collective : {Collective::AllGather, Collective::ReduceScatter}) {
    const Algorithm& algorithm = *find_algorithm(collective, "hierarchical");
    for (const Group& group : shapes()) {
      Request request = {collective, DataType::Float32, ReduceOp::Sum, 0, 1000};
      request.uneven = true;
      EXPECT_EQ(algorithm.unsupported(group, request), "");
      const Status proof = verify(build_schedule(algorithm, group, {.uneven = true}));
      EXPECT_TRUE(proof.ok()) << text_of(algorithm, group) << ": " << proof.message();
    }
  }
}

TEST(Hierarchical, halving_keeps_to_the_canonical_order_where_it_says_so) {
  const Algorithm& halving = *find_algorithm(Collective::AllReduce, "hierarchical_halving");
  Request request = {Collective::AllReduce, DataType::Float32, ReduceOp::Sum, 0, 1000};
  request.numerics = Numerics::Invariant;
  int served = 0;
  for (const Group& group : shapes()) {
    const Status proof = verify(build_schedule(halving, group, {.canonical = true}), {.canonical = true});
    const bool serves = halving.unsupported(group, request).empty();
    if (serves) {
      ++served;
      EXPECT_TRUE(proof.ok()) << text_of(halving, group) << ": " << proof.message();
    }
  }
  EXPECT_EQ(served, 6);  // 2+2, 2+2+2+2, 4+4, 8 * 4, 2 * 5, 4 * 6
}

// Chunks that each host sends to others.
std::vector<int> sent_by_hosts(const Schedule& schedule, const Group& group) {
  std::vector<int> host_of(static_cast<std::size_t>(group.size));
  for (std::size_t host = 0; host < group.hosts.size(); ++host)
    for (const int rank : group.hosts[host]) host_of[static_cast<std::size_t>(rank)] = static_cast<int>(host);
  std::vector<int> sent(group.hosts.size(), 0);
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    for (const auto& channel : schedule.ranks[rank].channels) {
      for (const Step& step : channel) {
        if (!sends(step.kind)) continue;
        const int to = step.kind == StepKind::Send ? step.peer : step.to;
        const int from_host = host_of[rank];
        if (host_of[static_cast<std::size_t>(to)] != from_host)
          sent[static_cast<std::size_t>(from_host)] += (step.kind == StepKind::Send ? step.src : step.dst).count;
      }
    }
  }
  return sent;
}

TEST(Hierarchical, each_hosts_link_carries_the_least_there_is) {
  for (const std::vector<int>& sizes :
       std::vector<std::vector<int>>{{2, 2}, {2, 2, 2, 2}, {4, 4, 4}, {8, 8, 8, 8}, {7, 8}, {1, 3}}) {
    const Group group = hosts_of(sizes);
    const int hosts = static_cast<int>(sizes.size());
    // All chunks, each once round all hosts but one; spread evenly up to what does not divide.
    for (const auto& [collective, rounds] :
         {std::pair(Collective::AllReduce, 2), std::pair(Collective::ReduceScatter, 1),
          std::pair(Collective::AllGather, 1)}) {
      const Schedule schedule = build_schedule(*find_algorithm(collective, "hierarchical"), group, {});
      const std::vector<int> sent = sent_by_hosts(schedule, group);
      EXPECT_EQ(std::accumulate(sent.begin(), sent.end(), 0), rounds * (hosts - 1) * group.size)
          << text_of(*find_algorithm(collective, "hierarchical"), group);
      // A host sends every block but those that its ring neighbour, where a ring ends, has itself.
      for (const int each : sent)
        EXPECT_NEAR(each, static_cast<double>(rounds * (hosts - 1) * group.size) / hosts, group.size / hosts)
            << text_of(*find_algorithm(collective, "hierarchical"), group);
    }
    const Schedule schedule = build_schedule(*find_algorithm(Collective::AllReduce, "hierarchical"), group, {});
    for (const int sent : sent_by_hosts(schedule, group))
      EXPECT_NEAR(sent, 2.0 * (hosts - 1) * group.size / hosts, 2.0)
          << text_of(*find_algorithm(Collective::AllReduce, "hierarchical"), group);
  }
}

TEST(Hierarchical, algorithms_serve_several_hosts_of_several_ranks_only) {
  const Request request = {Collective::AllReduce, DataType::Float32, ReduceOp::Sum, 0, 1000};
  for (const Algorithm* algorithm : hierarchical()) {
    EXPECT_NE(algorithm->unsupported(flat_group(4), request).find("one host only"), std::string_view::npos);
    EXPECT_NE(algorithm->unsupported(hosts_of({1, 1, 1}), request).find("one rank only"), std::string_view::npos);
    EXPECT_EQ(algorithm->unsupported(hosts_of({1, 2}), request), "");
  }
}

}  // namespace
}  // namespace weft::algorithms
