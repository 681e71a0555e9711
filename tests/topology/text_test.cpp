// Sets of CPUs, parts of paths and words of states.
#include "topology/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/cpu_set.hpp"
#include "topology/facts/port_states.hpp"
#include "topology/import/nccl_values.hpp"

namespace weft::topology {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CpuSet, common_cpus_are_those_of_both_lists) {
  EXPECT_EQ(common_cpus("0-15,32-47", "8-40"), "8-15,32-40");
  EXPECT_EQ(common_cpus("8,0-3", "3-8"), "3,8");
  EXPECT_EQ(common_cpus("0-3", "4-7"), "");
  EXPECT_EQ(common_cpus("", "0-3"), "");
  EXPECT_EQ(common_cpus("0-1,2-3,2-3", "0-7"), "0-3");
}

TEST(CpuSet, masks_of_nccl_are_read_as_those_of_hwloc) {
  EXPECT_EQ(nccl::cpus_of_mask("ffff0000,00000000"), "48-63");
  EXPECT_EQ(nccl::cpus_of_mask(" 0000000f , 00000001 "), "0,32-35");
  EXPECT_EQ(nccl::cpus_of_mask("00000000"), "");
  for (const char* text : {"", "xyz", "1ffffffff", "-1", "1,g"})
    EXPECT_EQ(nccl::cpus_of_mask(text), std::nullopt) << text;
}

TEST(Text, parts_of_a_path_are_those_that_lead_somewhere) {
  EXPECT_THAT(path_parts("/sys//./class/net/../x/"), ElementsAre("sys", "class", "net", "..", "x"));
  EXPECT_THAT(path_parts("/"), IsEmpty());
  EXPECT_THAT(path_parts(""), IsEmpty());
}

TEST(Text, states_of_ports_have_the_words_of_sysfs) {
  EXPECT_EQ(port_state(1), "DOWN");
  EXPECT_EQ(port_state(4), "ACTIVE");
  EXPECT_EQ(port_state(5), "ACTIVE_DEFER");
  for (int number : {-1, 0, 6}) EXPECT_EQ(port_state(number), std::nullopt);
}

}  // namespace
}  // namespace weft::topology
