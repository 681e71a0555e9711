// Runs the fuzz target of the site file over seeds and seeded mutations of them: no input crashes it or breaks a
// promise.
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/topology/support/fuzz.hpp"
#include "topology/audit/site.hpp"

namespace weft::topology::audit {
namespace {

using topology::test::feed;

constexpr int kMutations = 4000;
constexpr const char* kSeeds[] = {
    R"({"schema":1})",
    R"({"schema":1,"ignore":["net.port_down","topo.socket_without_nic@package0"]})",
    R"({"schema":1,"thresholds":{"shm_bytes":1,"measured_percent":50},"expect":{"gpus":8,"nic_gbs":50.5,)"
    R"("nvlinks":[{"device":"10de:2330","nvlinks":18}]}})",
};
const std::vector<std::string> kWords = {"1",  "-1", "1e308", "99999999999999999999", "null", "\"\"",
                                         "[]", "{}", "\"@\""};

TEST(SiteFuzz, every_cut_of_a_seed_keeps_all_promises) {
  for (const std::string text : kSeeds) {
    topology::test::feed_cuts(text);
    feed(text);
  }
}

TEST(SiteFuzz, mutations_keep_all_promises) {
  EXPECT_GT(
      topology::test::feed_mutations({std::begin(kSeeds), std::end(kSeeds)}, kWords, kMutations,
                                     [](const std::string& text) { return site_from_json("fuzz", text).has_value(); }),
      0.005);
}

}  // namespace
}  // namespace weft::topology::audit
