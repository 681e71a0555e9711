// Public reports of NVLinks and the fabric manager; see told_of().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/topology/support/audit_cases.hpp"
#include "topology/audit/audit.hpp"

namespace weft::topology::audit {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Report34, bridge_with_three_of_four_links) {
  Machine machine("packages:1 gpu:2 gpus_per_switch:1 nvlink:42");
  machine.name_all("gpu", 2, "10de:2204");
  for (Link& link : machine.survey().graph.links)
    if (link.kind == LinkKind::NvLink) link.count = 3;
  EXPECT_THAT(told_of(machine, "nvlink.links_missing"),
              AllOf(HasSubstr("error nvlink.links_missing gpu0: 3 of 4 NVLinks"), HasSubstr("NVLink bridge")));
}

TEST(Report36, fabric_manager_does_not_run) {
  Machine machine("dgx-h100");
  machine.host().fabric_manager = false;
  machine.host().kernel.nvidia_driver = "550.54.15";
  for (int i = 0; i < 8; ++i) machine.device("gpu" + std::to_string(i)).fabric_state = "in progress";
  EXPECT_THAT(told_of(machine, "nvswitch.fabricmanager"),
              AllOf(HasSubstr("error"), HasSubstr("\"in progress\""), HasSubstr("nvidia-fabricmanager 550.54.15")));
}

TEST(Report37, fabric_manager_was_restarted) {
  Machine machine("dgx-h100");
  machine.host().fabric_manager_start_s = 86'400;
  for (int i = 0; i < 8; ++i) machine.device("gpu" + std::to_string(i)).fabric_registered_s = 120;
  EXPECT_THAT(told_of(machine, "nvswitch.fm_restarted"), AllOf(HasSubstr("warning"), HasSubstr("--gpu-reset")));
}

TEST(Report39, h100_nvl_has_twelve_links) {
  Machine machine("packages:2 gpu:2 gpus_per_switch:1 nvlink:300");
  machine.name_all("gpu", 2, "10de:2321");
  for (Link& link : machine.survey().graph.links)
    if (link.kind == LinkKind::NvLink) link.count = 12;
  for (const char* gpu : {"gpu0", "gpu1"}) {
    for (int i = 0; i < 18; ++i) machine.device(gpu).nvlinks.push_back({i, i < 12, {}, {}, {}, {}});
  }
  EXPECT_THAT(audit(machine), IsEmpty());
}

}  // namespace
}  // namespace weft::topology::audit
