// Bindings as text, JSON, and lines for launchers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/machine_survey.hpp"
#include "topology/advice/binding_text.hpp"

namespace weft::topology::advice {
namespace {

using test::machine_of;
using test::node_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string text_of(BindingForm form, const Survey& survey) {
  Locality locality(survey.graph);
  return *binding_text(form, survey, locality);
}

TEST(BindingText, has_a_line_for_each_launcher) {
  Survey survey = machine_of("dgx-h100");
  survey.hosts[0].hostname = "node7";
  EXPECT_THAT(text_of(BindingForm::Text, survey),
              HasSubstr("rank 3   gpu3     cpus 42-55  memory node 0  NIC nic3 (PIX)"));
  EXPECT_THAT(text_of(BindingForm::Numactl, survey), HasSubstr("\nnumactl --physcpubind=42-55 --membind=0 PROGRAM\n"));
  EXPECT_THAT(text_of(BindingForm::Mpirun, survey), HasSubstr("\nrank 3=node7 slot=42-55\n"));
  EXPECT_THAT(text_of(BindingForm::Torchrun, survey),
              HasSubstr("\n  3) exec numactl --physcpubind=42-55 --membind=0 \"$@\" ;;"));
  EXPECT_THAT(
      text_of(BindingForm::Json, survey),
      HasSubstr(R"({"rank": 3, "device": "gpu3", "bus_id": null, "index": null, "cpus": "42-55", "memory_node": 0)"));
  for (BindingForm form : {BindingForm::Text, BindingForm::Numactl, BindingForm::Mpirun, BindingForm::Torchrun})
    EXPECT_THAT(text_of(form, survey), Not(HasSubstr("CUDA_DEVICE_ORDER")));
}

TEST(BindingText, says_how_gpus_are_counted) {
  Survey survey = machine_of("packages:2 cores:4 gpu:2 gpus_per_switch:1");
  for (int i : {0, 1}) {
    Node& gpu = node_of(survey, "gpu" + std::to_string(i));
    gpu.device = "10de:2330";
    gpu.bus_id = i == 0 ? "0000:c1:00.0" : "0000:07:00.0";
    gpu.names = {"nvml" + std::to_string(1 - i)};
  }
  EXPECT_THAT(text_of(BindingForm::Text, survey),
              AllOf(HasSubstr("rank 0   gpu1     0000:07:00.0  device 0  cpus 4-7"),
                    HasSubstr("\n  ranks count GPUs so with CUDA_DEVICE_ORDER=PCI_BUS_ID\n")));
  EXPECT_THAT(text_of(BindingForm::Numactl, survey), HasSubstr("\nexport CUDA_DEVICE_ORDER=PCI_BUS_ID "));
  EXPECT_THAT(text_of(BindingForm::Torchrun, survey), HasSubstr("\nexport CUDA_DEVICE_ORDER=PCI_BUS_ID "));
  EXPECT_THAT(text_of(BindingForm::Mpirun, survey), HasSubstr("mpirun -x CUDA_DEVICE_ORDER=PCI_BUS_ID --mca "));
  EXPECT_THAT(text_of(BindingForm::Json, survey),
              AllOf(HasSubstr(R"("cuda_device_order": "PCI_BUS_ID")"),
                    HasSubstr(R"({"rank": 0, "device": "gpu1", "bus_id": "0000:07:00.0", "index": 0, "cpus": "4-7")")));
}

TEST(BindingText, like_hosts_are_told_once_but_named_in_a_rankfile) {
  const Survey survey = machine_of("dgx-h100 hosts:3");
  EXPECT_THAT(text_of(BindingForm::Text, survey), HasSubstr("host0 and 2 hosts like it"));
  EXPECT_THAT(text_of(BindingForm::Mpirun, survey), HasSubstr("\nrank 16=host2 slot=0-13\n"));
}

// A host name that a dump brought along.
TEST(BindingText, names_of_a_dump_stay_on_their_line) {
  Survey survey = machine_of("dgx-h100");
  survey.hosts[0].hostname = "node7\nreboot $(id)";
  node_of(survey, "nic0").name = "nic0\nreboot";
  for (BindingForm form : {BindingForm::Text, BindingForm::Numactl, BindingForm::Mpirun, BindingForm::Torchrun})
    EXPECT_THAT(text_of(form, survey), Not(HasSubstr("\nreboot"))) << static_cast<int>(form);
  EXPECT_THAT(text_of(BindingForm::Mpirun, survey), HasSubstr("\nrank 3=node7-reboot---id- slot=42-55\n"));
}

}  // namespace
}  // namespace weft::topology::advice
