// Copies with GPUs: which are planned, and what a library that is fast, slow, shared, broken or stuck makes of them.
// The library is played; the process that loads it is the real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "topology/audit/audit.hpp"
#include "topology/measure/gpu_copies.hpp"
#include "topology/measure/measure.hpp"
#include "topology/vendor/helper.hpp"

namespace weft::topology {
namespace {

using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Of which every NUMA node has the CPU that the test runs on.
Survey machine(const std::string& line, const std::string& vendor = "10de") {
  Survey survey;
  survey.graph = *model(line);
  survey.source = kThisMachine;
  survey.hosts.emplace_back();
  int gpus = 0;
  for (Node& node : survey.graph.nodes) {
    if (node.kind == NodeKind::Numa) node.cpus = std::to_string(::sched_getcpu());
    if (node.kind != NodeKind::Gpu) continue;
    node.bus_id = "0000:1" + std::to_string(gpus++) + ":00.0";
    node.device = vendor + ":2330";
  }
  return survey;
}

int id(const Survey& survey, std::string_view name) { return *survey.graph.find(name); }

std::vector<std::string> words(const Survey& survey, const std::vector<GpuRound>& rounds) {
  std::vector<std::string> words;
  for (const GpuRound& round : rounds) {
    std::string text = round.at_once ? "all:" : "";
    for (const GpuCopy& copy : round.copies)
      text += (text.empty() ? "" : " ") + survey.graph.nodes[static_cast<std::size_t>(copy.from)].name + ">" +
              survey.graph.nodes[static_cast<std::size_t>(copy.to)].name;
    words.push_back(text);
  }
  return words;
}

class GpuCopies : public testing::Test {
 protected:
  ~GpuCopies() override { ::unsetenv("WEFT_TEST_GPUS"); }

  static void measure_as(Survey& survey, const std::string& role, double seconds = 20, const char* kind = "cuda") {
    ::setenv("WEFT_TEST_GPUS", role.c_str(), 1);
    Locality locality(survey.graph);
    const bool cuda = std::string_view(kind) == "cuda";
    measure_gpus({kind, cuda ? "CUDA" : "HIP", cuda ? FAKE_CUDA : FAKE_HIP, find_helper(), seconds},
                 gpu_rounds(survey, locality, cuda ? "10de:" : "1002:"), survey);
  }
  static std::vector<double> rates(const Survey& survey, std::string_view what, bool at_once) {
    std::vector<double> rates;
    for (const Measurement& measured : survey.measurements)
      if (measured.what == what && measured.at_once == at_once) rates.push_back(measured.bandwidth_gbs);
    return rates;
  }
  static double rate(const Survey& survey, std::string_view from, std::string_view to) {
    for (const Measurement& measured : survey.measurements)
      if (measured.from == id(survey, from) && measured.to == id(survey, to) && !measured.at_once)
        return measured.bandwidth_gbs;
    ADD_FAILURE() << from << " to " << to << " was not measured";
    return 0;
  }
};

TEST_F(GpuCopies, are_planned_near_first_then_far_then_pairs_then_all_at_once) {
  const Survey survey = machine("packages:2 cores:1 gpu:2 gpus_per_switch:1");
  Locality locality(survey.graph);
  const std::vector<GpuRound> rounds = gpu_rounds(survey, locality, "10de:");
  EXPECT_THAT(words(survey, rounds),
              testing::ElementsAre("numa0>gpu0", "gpu0>numa0", "numa1>gpu1", "gpu1>numa1", "numa1>gpu0", "gpu0>numa1",
                                   "numa0>gpu1", "gpu1>numa0", "gpu0>gpu1", "gpu1>gpu0", "all: numa0>gpu0 numa1>gpu1",
                                   "all: gpu0>numa0 gpu1>numa1", "all: gpu0>gpu1 gpu1>gpu0"));
  EXPECT_EQ(rounds.front().line,
            "cpu" + survey.graph.nodes[static_cast<std::size_t>(id(survey, "numa0"))].cpus + ">0000:10:00.0");
  EXPECT_THAT(gpu_rounds(survey, locality, "1002:"), IsEmpty());
}

TEST_F(GpuCopies, of_many_gpus_are_bounded) {
  Survey survey = machine("packages:1 cores:1 gpu:32 gpus_per_switch:4");
  int gpus = 0;
  for (Node& node : survey.graph.nodes)
    if (node.kind == NodeKind::Gpu) node.bus_id = "0000:" + std::to_string(10 + gpus++) + ":00.0";
  Locality locality(survey.graph);
  EXPECT_THAT(gpu_rounds(survey, locality, "10de:"), SizeIs(2 * 32 + 256 + 3));
}

TEST_F(GpuCopies, reach_the_rate_that_the_library_copies_at) {
  Survey survey = machine("packages:2 cores:1 gpu:2 gpus_per_switch:1");
  measure_as(survey, "2@8");
  EXPECT_THAT(survey.remarks, IsEmpty());
  EXPECT_THAT(rates(survey, kToGpu, false), SizeIs(4));
  EXPECT_THAT(rates(survey, kFromGpu, false), SizeIs(4));
  EXPECT_THAT(rates(survey, kGpuCopy, false), SizeIs(2));
  EXPECT_THAT(rates(survey, kToGpu, true), SizeIs(2));
  EXPECT_THAT(rates(survey, kFromGpu, true), SizeIs(2));
  EXPECT_THAT(rates(survey, kGpuCopy, true), SizeIs(2));
  // Sleeps last longer than asked for, above all on a machine that has other things to do, and never shorter.
  for (const Measurement& measured : survey.measurements) {
    EXPECT_GT(measured.bandwidth_gbs, 1);
    EXPECT_LE(measured.bandwidth_gbs, 8.01);
  }
}

TEST_F(GpuCopies, with_hip_are_the_same) {
  Survey survey = machine("packages:2 cores:1 gpu:2 gpus_per_switch:1", "1002");
  measure_as(survey, "2@8", 20, "hip");
  EXPECT_THAT(survey.remarks, IsEmpty());
  EXPECT_THAT(survey.measurements, SizeIs(16));
}

TEST_F(GpuCopies, over_a_shared_link_are_slower_all_at_once) {
  Survey survey = machine("packages:1 cores:1 gpu:4 gpus_per_switch:4");
  measure_as(survey, "shared:4@8");
  const std::vector<double> alone = rates(survey, kToGpu, false);
  const std::vector<double> together = rates(survey, kToGpu, true);
  ASSERT_THAT(together, SizeIs(4));
  double sum = 0;
  for (double one : together) sum += one;
  EXPECT_LE(*std::max_element(together.begin(), together.end()), 8.01);
  EXPECT_LE(sum, 8.01 * 4 / 2) << "four share what one has alone";
  EXPECT_THAT(alone, SizeIs(4));
}

TEST_F(GpuCopies, that_are_slow_are_a_finding_and_correct_the_topology) {
  Survey survey = machine("packages:1 cores:1 gpu:2 gpus_per_switch:1 pcie:3");
  measure_as(survey, "slow:2@15");
  EXPECT_LT(rate(survey, "numa0", "gpu1"), 1.6);
  bool told = false;
  for (const audit::Finding& finding : audit::audit(survey))
    told |= finding.id == "perf.below_nominal" && finding.subject.find("gpu1") != std::string::npos;
  EXPECT_TRUE(told);
  const Graph better = corrected(survey);
  EXPECT_LT(better.best_path(id(survey, "numa0"), id(survey, "gpu1")).bandwidth_gbs, 1.7);
  EXPECT_GT(better.best_path(id(survey, "numa0"), id(survey, "gpu0")).bandwidth_gbs, 2);
}

TEST_F(GpuCopies, that_fail_are_told_and_the_others_measured) {
  Survey survey = machine("packages:1 cores:1 gpu:3 gpus_per_switch:1");
  measure_as(survey, "broken:3@8");
  EXPECT_THAT(rates(survey, kToGpu, false), SizeIs(2));
  EXPECT_THAT(rates(survey, kGpuCopy, false), SizeIs(2));
  ASSERT_THAT(survey.remarks, SizeIs(1));
  EXPECT_EQ(survey.remarks[0].kind, RemarkKind::Unmeasured);
  EXPECT_THAT(survey.remarks[0].evidence, HasSubstr("numa0 to gpu1 and 9 more: unspecified launch failure (719)"));
}

TEST_F(GpuCopies, that_never_end_are_given_up_and_what_was_measured_stays) {
  Survey survey = machine("packages:1 cores:1 gpu:2 gpus_per_switch:1");
  const auto before = std::chrono::steady_clock::now();
  measure_as(survey, "stuck:2@8", 0.5);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
  EXPECT_THAT(rates(survey, kToGpu, false), SizeIs(1));
  ASSERT_THAT(survey.remarks, SizeIs(1));
  EXPECT_EQ(survey.remarks[0].kind, RemarkKind::GaveUp);
  EXPECT_THAT(survey.remarks[0].evidence, HasSubstr("no answer within"));
}

TEST_F(GpuCopies, are_left_out_when_the_time_is_over) {
  Survey survey = machine("packages:1 cores:1 gpu:4 gpus_per_switch:1");
  measure_as(survey, "4@8", 0.3);
  EXPECT_THAT(survey.measurements, testing::Not(IsEmpty()));
  ASSERT_THAT(survey.remarks, SizeIs(1));
  EXPECT_THAT(survey.remarks[0].evidence, HasSubstr("of GPU copies left out: the time was over"));
}

TEST_F(GpuCopies, of_a_gpu_that_the_library_does_not_see_are_told) {
  Survey survey = machine("packages:1 cores:1 gpu:2 gpus_per_switch:1");
  measure_as(survey, "1@8");
  EXPECT_THAT(rates(survey, kToGpu, false), SizeIs(1));
  EXPECT_THAT(survey.remarks, Contains(Field(&Remark::evidence, HasSubstr("it sees no GPU at 0000:11:00.0"))));
}

TEST_F(GpuCopies, are_not_measured_by_a_library_that_refuses_or_crashes) {
  for (const auto& [role, why] : {std::pair("refuses", "no CUDA-capable device is detected (100)"),
                                  std::pair("crashes", "crashed with signal 6")}) {
    Survey survey = machine("packages:1 cores:1 gpu:2");
    measure_as(survey, role);
    EXPECT_THAT(survey.measurements, IsEmpty());
    ASSERT_THAT(survey.remarks, SizeIs(1)) << role;
    EXPECT_THAT(survey.remarks[0].evidence, HasSubstr(why));
  }
}

TEST_F(GpuCopies, need_a_library) {
  Survey survey = machine("packages:1 cores:1 gpu:2");
  Locality locality(survey.graph);
  const std::vector<GpuRound> rounds = gpu_rounds(survey, locality, "10de:");
  measure_gpus({"cuda", "CUDA", "", find_helper(), 1}, rounds, survey);
  measure_gpus({"cuda", "CUDA", FAKE_CUDA, "", 1}, rounds, survey);
  measure_gpus({"cuda", "CUDA", "/dev/null", find_helper(), 1}, rounds, survey);
  measure_gpus({"cuda", "CUDA", FAKE_HIP, find_helper(), 1}, rounds, survey);
  ASSERT_THAT(survey.remarks, SizeIs(4));
  EXPECT_THAT(survey.remarks, Each(Field(&Remark::kind, RemarkKind::Unmeasured)));
  EXPECT_THAT(survey.remarks[3].evidence, HasSubstr("lacks functions"));
  EXPECT_THAT(survey.measurements, IsEmpty());
}

TEST(GpuAnswers, that_are_not_as_expected_are_refused_with_their_place) {
  const auto why = [](std::string_view json) { return std::string(read_gpu_answer(json).status().message()); };
  EXPECT_THAT(why("{}"), HasSubstr("round"));
  EXPECT_THAT(why(R"({"round": -1, "copies": []})"), HasSubstr("round"));
  EXPECT_THAT(why(R"({"round": 0, "copies": [{}]})"), HasSubstr("copies[0]"));
  EXPECT_THAT(why(R"({"round": 0, "copies": [{"gbs": 1, "error": "x"}]})"), HasSubstr("neither"));
  EXPECT_THAT(why(R"({"round": 0, "copies": [{"gbs": 1e300}]})"), HasSubstr("neither"));
  EXPECT_THAT(why("garbage"), HasSubstr("GPU copies"));
  EXPECT_TRUE(read_gpu_answer(R"({"round": 0, "copies": [{"gbs": 24.5}, {"error": "lost"}]})"));
}

}  // namespace
}  // namespace weft::topology
