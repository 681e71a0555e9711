// Measuring: what is measured on this machine makes sense, and what it does to a graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <thread>

#include "topology/cpu_set.hpp"
#include "topology/measure/cache_copies.hpp"
#include "topology/measure/measure.hpp"
#include "topology/measure/memory_reads.hpp"

namespace weft::topology {
namespace {

std::vector<int> own_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

// This machine as if each of its first two CPUs were a NUMA node with a core group.
Survey two_nodes(int first, int second) {
  Survey survey;
  survey.graph = *model("packages:2 cores:1");
  survey.hosts.resize(1);
  for (Node& node : survey.graph.nodes)
    if (node.kind == NodeKind::Numa || node.kind == NodeKind::CoreGroup)
      node.cpus = std::to_string(node.os_index == 0 ? first : second);
  return survey;
}

int count(const Survey& survey, std::string_view what, bool at_once) {
  int found = 0;
  for (const Measurement& measured : survey.measurements) found += measured.what == what && measured.at_once == at_once;
  return found;
}

TEST(Measure, a_copy_between_two_cpus_has_a_rate_and_a_latency) {
  const std::vector<int> cpus = own_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "this needs two CPUs";
  const auto copies = time_copies({{cpus[0], cpus[1]}});
  ASSERT_TRUE(copies);
  EXPECT_GT(copies->front().gbs, 0.01);
  EXPECT_LT(copies->front().gbs, 1000);
  EXPECT_GT(copies->front().latency_us, 0.001);
}

TEST(Measure, a_cpu_that_may_not_be_used_gives_nothing) {
  EXPECT_FALSE(time_copies({{own_cpus().front(), 8000}}));
  EXPECT_FALSE(time_copies({{0, 0}}));
  EXPECT_FALSE(time_reads({{{8000}, {8000}}}, 1 << 20, 1));
  EXPECT_FALSE(time_reads({}, 1 << 20, 1));
}

TEST(Measure, memory_is_read_at_a_rate) {
  const int cpu = own_cpus().front();
  const auto gbs = time_reads({{{cpu}, {cpu}}}, std::size_t{16} << 20, 2);
  ASSERT_TRUE(gbs);
  EXPECT_GT(gbs->front(), 0.01);
  EXPECT_LT(gbs->front(), 1000);
}

TEST(Measure, pairs_are_measured_one_by_one_and_all_at_once) {
  const std::vector<int> cpus = own_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "this needs two CPUs";
  Survey survey = two_nodes(cpus[0], cpus[1]);
  measure(survey, {.seconds = 8, .memory_bytes = std::size_t{16} << 20});
  EXPECT_EQ(count(survey, "memory", false), 4);
  EXPECT_EQ(count(survey, "memory", true), 4);  // each its own, each the other's
  EXPECT_EQ(count(survey, "copy", false), 2);   // not within a group of one core
  EXPECT_TRUE(survey.remarks.empty());
}

TEST(Measure, cpus_that_are_not_allowed_are_left_alone) {
  const std::vector<int> cpus = own_cpus();
  Survey survey = two_nodes(cpus.front(), 4000);
  survey.hosts[0].process.allowed_cpus = std::to_string(cpus.front());
  measure(survey, {.seconds = 8, .memory_bytes = std::size_t{16} << 20});
  EXPECT_EQ(survey.measurements.size(), 1u);
}

TEST(Measure, ends_in_time_and_says_what_it_left_out) {
  const std::vector<int> cpus = own_cpus();
  Survey survey = two_nodes(cpus.front(), cpus.back());
  measure(survey, {.seconds = 0, .memory_bytes = std::size_t{16} << 20});
  EXPECT_TRUE(survey.measurements.empty());
  ASSERT_EQ(survey.remarks.size(), 1u);
  EXPECT_EQ(survey.remarks[0].kind, RemarkKind::Unmeasured);
}

Survey measured_machine(double there, double back) {
  Survey survey;
  survey.graph = *model("packages:2 cores:4");
  const int a = *survey.graph.find("numa0");
  const int b = *survey.graph.find("numa1");
  survey.measurements = {{a, b, "memory", false, there, std::nullopt}, {b, a, "memory", false, back, std::nullopt}};
  return survey;
}

const Link& socket_link(const Graph& graph) {
  for (const Link& link : graph.links)
    if (link.kind == LinkKind::CpuSocket) return link;
  ADD_FAILURE() << "no link between the sockets";
  return graph.links.front();
}

TEST(Corrected, the_binding_link_becomes_what_was_measured) {
  const Survey slow = measured_machine(7, 6);
  EXPECT_DOUBLE_EQ(socket_link(corrected(slow)).bandwidth_gbs, 7);  // the better direction
  EXPECT_EQ(socket_link(corrected(slow)).source, "measured");
  EXPECT_DOUBLE_EQ(socket_link(corrected(measured_machine(30, 31))).bandwidth_gbs, 31);
  EXPECT_TRUE(corrected(slow).check().ok());
}

TEST(Corrected, links_that_do_not_bind_stay_unless_more_went_through) {
  const Graph graph = corrected(measured_machine(7, 7));
  for (const Link& link : graph.links) EXPECT_EQ(link.source == "measured", link.kind == LinkKind::CpuSocket);
}

TEST(Corrected, copies_of_one_core_narrow_nothing) {
  Survey survey = measured_machine(7, 7);
  const int a = *survey.graph.find("cores0");
  const int b = *survey.graph.find("cores1");
  survey.measurements = {{a, b, "copy", false, 3, 0.2}, {a, a, "copy", false, 12.5, 0.06}};
  const Graph graph = corrected(survey);
  EXPECT_EQ(socket_link(graph).source, "model");
  EXPECT_DOUBLE_EQ(*graph.nodes[static_cast<std::size_t>(a)].loopback_gbs, 12.5);
  EXPECT_DOUBLE_EQ(*graph.nodes[static_cast<std::size_t>(a)].loopback_us, 0.06);
}

TEST(Corrected, what_went_at_once_adds_up_on_shared_links) {
  Survey survey = measured_machine(9, 9);
  const int a = *survey.graph.find("cores0");
  const int b = *survey.graph.find("cores1");
  survey.measurements.push_back({a, b, "copy", true, 8, std::nullopt});
  survey.measurements.push_back({*survey.graph.find("numa0"), b, "copy", true, 8, std::nullopt});
  EXPECT_DOUBLE_EQ(socket_link(corrected(survey)).bandwidth_gbs, 16);
}

TEST(Compare, puts_the_nominal_rate_of_the_path_beside) {
  const Survey survey = measured_machine(7, 6);
  Locality locality(survey.graph);
  const std::vector<Comparison> comparisons = compare(survey, locality);
  ASSERT_EQ(comparisons.size(), 2u);
  EXPECT_DOUBLE_EQ(comparisons[0].nominal_gbs, 10);
  EXPECT_GE(comparisons[0].binding_link, 0);
}

}  // namespace
}  // namespace weft::topology
