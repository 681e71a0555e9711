// How programs count GPUs: by what the driver tells, else by bus id; and what lists of visible ones leave.
#include "topology/gpu_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::topology {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Four GPUs of that vendor, on buses 40, 30, 20 and 10.
Survey four(const std::string& device) {
  Survey survey;
  Result<Graph> graph = model("packages:2 cores:4 gpu:4 gpus_per_switch:2");
  EXPECT_TRUE(graph) << graph.status().to_string();
  survey.graph = std::move(graph).value();
  survey.hosts.resize(1);
  int bus = 4;
  for (int id : survey.graph.ids(NodeKind::Gpu)) {
    Node& gpu = survey.graph.nodes[static_cast<std::size_t>(id)];
    gpu.device = device;
    gpu.bus_id = "0000:" + std::to_string(bus--) + "0:00.0";
  }
  return survey;
}

Node& gpu(Survey& survey, std::size_t number) {
  return survey.graph.nodes[static_cast<std::size_t>(survey.graph.ids(NodeKind::Gpu)[number])];
}

std::vector<std::string> names(const Survey& survey, const std::vector<int>& ids) {
  std::vector<std::string> words;
  for (int id : ids) words.push_back(survey.graph.nodes[static_cast<std::size_t>(id)].name);
  return words;
}

GpuOrder order_of(const Survey& survey) { return gpu_order(survey, survey.graph.ids(NodeKind::Gpu)); }

std::vector<std::string> visible_in(Survey survey, std::vector<Variable> environment) {
  survey.hosts[0].environment = std::move(environment);
  return names(survey, visible_gpus(survey, 0, survey.graph.ids(NodeKind::Gpu)).order.gpus);
}

void number_all(Survey& survey, const std::string& tool) {
  for (std::size_t i = 0; i < 4; ++i) gpu(survey, i).names = {"card" + std::to_string(i), tool + std::to_string(i ^ 2)};
}

TEST(GpuOrder, numbers_of_the_driver_hold) {
  Survey survey = four("1002:7408");
  number_all(survey, "rsmi");
  EXPECT_THAT(names(survey, order_of(survey).gpus), ElementsAre("gpu2", "gpu3", "gpu0", "gpu1"));
  EXPECT_EQ(order_of(survey).by, CountedBy::Driver);
  EXPECT_FALSE(order_of(survey).cuda_must_be_told);
  survey.hosts[0].devices.resize(4);
  for (std::size_t i = 0; i < 4; ++i) {
    survey.hosts[0].devices[i].node = gpu(survey, i).name;
    survey.hosts[0].devices[i].index = static_cast<int>(i ^ 1);
  }
  EXPECT_THAT(names(survey, order_of(survey).gpus), ElementsAre("gpu1", "gpu0", "gpu3", "gpu2"));
}

TEST(GpuOrder, bus_ids_hold_where_a_number_is_missing_or_told_twice) {
  Survey survey = four("10de:2330");
  EXPECT_THAT(names(survey, order_of(survey).gpus), ElementsAre("gpu3", "gpu2", "gpu1", "gpu0"));
  EXPECT_EQ(order_of(survey).by, CountedBy::BusId);
  EXPECT_TRUE(order_of(survey).cuda_must_be_told);
  number_all(survey, "nvml");
  EXPECT_EQ(order_of(survey).by, CountedBy::Driver);
  gpu(survey, 1).names = {"nvml0"};
  gpu(survey, 2).names = {"nvml0"};
  EXPECT_EQ(order_of(survey).by, CountedBy::BusId);
  gpu(survey, 3).bus_id = "10000:10:00.0";
  EXPECT_THAT(names(survey, order_of(survey).gpus), ElementsAre("gpu2", "gpu1", "gpu0", "gpu3"));
  gpu(survey, 3).bus_id.clear();
  EXPECT_THAT(names(survey, order_of(survey).gpus), ElementsAre("gpu0", "gpu1", "gpu2", "gpu3"));
  EXPECT_EQ(order_of(survey).by, CountedBy::Source);
}

// CUDA itself may count the fastest first; its own numbers tell nothing of PCI_BUS_ID.
TEST(GpuOrder, numbers_of_cuda_are_not_those_of_the_driver) {
  Survey survey = four("10de:2330");
  number_all(survey, "cuda");
  EXPECT_EQ(order_of(survey).by, CountedBy::BusId);
}

TEST(GpuOrder, tables_of_nvidia_smi_name_gpus_by_number) {
  Survey survey = four("");
  survey.source = "the text of nvidia-smi topo -m";
  EXPECT_EQ(driver_index(survey, gpu(survey, 3)), 3);
  EXPECT_TRUE(order_of(survey).cuda_must_be_told);
  survey.source.clear();
  EXPECT_EQ(driver_index(survey, gpu(survey, 3)), std::nullopt);
}

TEST(VisibleGpus, are_named_by_number_in_their_order) {
  Survey survey = four("10de:2330");
  EXPECT_THAT(visible_in(survey, {{"CUDA_VISIBLE_DEVICES", "0,2"}}), ElementsAre("gpu3", "gpu1"));
  EXPECT_THAT(visible_in(survey, {{"CUDA_VISIBLE_DEVICES", "2,0"}}), ElementsAre("gpu1", "gpu3"));
  EXPECT_THAT(visible_in(survey, {{"CUDA_VISIBLE_DEVICES", "1,-1,0"}}), ElementsAre("gpu2"));
  number_all(survey, "nvml");
  EXPECT_THAT(visible_in(survey, {{"CUDA_VISIBLE_DEVICES", "0,1"}}), ElementsAre("gpu2", "gpu3"));
  // ROCm's variables are not for them.
  EXPECT_THAT(visible_in(survey, {{"ROCR_VISIBLE_DEVICES", "0"}, {"CUDA_VISIBLE_DEVICES", "0,1"}}),
              ElementsAre("gpu2", "gpu3"));
}

TEST(VisibleGpus, are_named_by_uuid) {
  Survey survey = four("10de:2330");
  survey.hosts[0].devices.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    survey.hosts[0].devices[i].node = gpu(survey, i).name;
    survey.hosts[0].devices[i].uuid = i == 0 ? "GPU-8932f937-d72c" : "GPU-8a52b1fd-0cf2";
  }
  EXPECT_THAT(visible_in(survey, {{"CUDA_VISIBLE_DEVICES", "GPU-8a5"}}), ElementsAre("gpu1"));
  EXPECT_EQ(visible_in(survey, {{"CUDA_VISIBLE_DEVICES", "GPU-8"}}).size(), 4u) << "which of two?";
  EXPECT_EQ(visible_in(survey, {{"CUDA_VISIBLE_DEVICES", "GPU-"}}).size(), 4u);
}

TEST(VisibleGpus, hip_counts_what_rocr_leaves) {
  Survey survey = four("1002:7408");
  number_all(survey, "rsmi");
  EXPECT_THAT(visible_in(survey, {{"ROCR_VISIBLE_DEVICES", "2,3"}}), ElementsAre("gpu0", "gpu1"));
  EXPECT_THAT(visible_in(survey, {{"ROCR_VISIBLE_DEVICES", "2,3"}, {"HIP_VISIBLE_DEVICES", "1"}}), ElementsAre("gpu1"));
  EXPECT_THAT(visible_in(survey, {{"ROCR_VISIBLE_DEVICES", "2,3"}, {"CUDA_VISIBLE_DEVICES", "0"}}),
              ElementsAre("gpu0"));
}

TEST(VisibleGpus, lists_of_other_things_are_passed) {
  Survey survey = four("10de:2330");
  for (const char* list : {"", "4", "0,0", "0,", "NoDevFiles", "-1", "0 1", "99999999999", "MIG-1/2"}) {
    survey.hosts[0].environment = std::vector<Variable>{{"CUDA_VISIBLE_DEVICES", list}};
    const VisibleGpus visible = visible_gpus(survey, 0, survey.graph.ids(NodeKind::Gpu));
    EXPECT_EQ(visible.order.gpus.size(), 4u) << list;
    EXPECT_THAT(visible.chosen, IsEmpty()) << list;
    EXPECT_THAT(visible.passed, ElementsAre(std::string("CUDA_VISIBLE_DEVICES=") + list));
  }
}

}  // namespace
}  // namespace weft::topology
