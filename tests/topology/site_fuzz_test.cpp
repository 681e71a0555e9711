// Runs the fuzz target of the site file over seeds and seeded mutations of them: no input crashes it or breaks a
// promise.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>

#include "topology/audit/site.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);

namespace weft::topology::audit {
namespace {

constexpr int kMutations = 4000;
constexpr const char* kSeeds[] = {
    R"({"schema":1})",
    R"({"schema":1,"ignore":["net.port_down","topo.socket_without_nic@package0"]})",
    R"({"schema":1,"thresholds":{"shm_bytes":1,"measured_percent":50},"expect":{"gpus":8,"nic_gbs":50.5,)"
    R"("nvlinks":[{"device":"10de:2330","nvlinks":18}]}})",
};
constexpr const char* kTokens[] = {"1", "-1", "1e308", "99999999999999999999", "null", "\"\"", "[]", "{}", "\"@\""};

void feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::string mutate(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  const std::size_t at = below(text.size());
  switch (below(5)) {
    case 0:
      text[at] = static_cast<char>(below(256));
      break;
    case 1:
      text.erase(at, 1 + below(8));
      break;
    case 2:
      text.insert(at, text.substr(below(text.size()), 1 + below(30)));
      break;
    case 3:
      text.insert(at, kTokens[below(std::size(kTokens))]);
      break;
    default:
      if (const std::size_t digit = text.find_first_of("0123456789", at); digit != std::string::npos)
        text.replace(digit, 1, kTokens[below(std::size(kTokens))]);
  }
  return text;
}

TEST(SiteFuzz, every_cut_of_a_seed_keeps_all_promises) {
  for (const std::string text : kSeeds)
    for (std::size_t bytes = 0; bytes <= text.size(); ++bytes) feed(text.substr(0, bytes));
}

TEST(SiteFuzz, mutations_keep_all_promises) {
  const char* given = std::getenv("WEFT_TEST_SEED");
  const unsigned seed =
      given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device()();
  std::printf("seed %u; replay with WEFT_TEST_SEED=%u\n", seed, seed);
  std::fflush(stdout);
  std::mt19937 random(seed);
  int accepted = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutate(kSeeds[static_cast<std::size_t>(i) % std::size(kSeeds)], random);
    feed(text);
    accepted += site_from_json("fuzz", text).has_value() ? 1 : 0;
  }
  EXPECT_GT(accepted, kMutations / 200);  // or this tests only the parser
}

}  // namespace
}  // namespace weft::topology::audit
