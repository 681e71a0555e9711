// ctest: serial programs
// Ranks on two hosts that share no memory: everything crosses the network between them, as the network's own counters
// say.
#include "tests/support/two_hosts.hpp"

#include <gmock/gmock.h>

#include "tests/support/process.hpp"

namespace weft::test {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

// Ranks 0 and 1 on host 0, ranks 2 and 3 on host 1, as `ranks` says; rank 0 is the first.
std::vector<Process> start_ranks(const TwoHosts& hosts, int ranks, const std::vector<std::string>& arguments,
                                 const std::string& interfaces = TwoHosts::kInterface) {
  std::vector<Process> processes;
  for (int rank = 0; rank < ranks; ++rank) {
    auto command = hosts.on(rank * 2 / ranks);
    command.push_back(program("weft-bench"));
    command.insert(command.end(), arguments.begin(), arguments.end());
    processes.push_back(Process::start(command, {{"WEFT_RANK", std::to_string(rank)},
                                                 {"WEFT_SIZE", std::to_string(ranks)},
                                                 {"WEFT_RENDEZVOUS", hosts.address(0) + ":18515"},
                                                 {"WEFT_INTERFACE", interfaces},
                                                 {"WEFT_TIMEOUT", "60"}}));
  }
  return processes;
}

TEST(TwoHostsTest, an_all_reduce_crosses_the_wire) {
  std::string why_not;
  const auto hosts = TwoHosts::make(why_not);
  if (!hosts) GTEST_SKIP() << "no network namespaces here: " << why_not;

  constexpr std::uint64_t kBytes = 4 << 20;
  constexpr int kCalls = 1 + 1 + 10 + 1;  // checked, warm-up, timed, checked
  const std::uint64_t before[] = {hosts->bytes_sent(0), hosts->bytes_sent(1)};
  auto ranks = start_ranks(
      *hosts, 2, {"all_reduce", "--min-bytes", "4M", "--max-bytes", "4M", "--iterations", "10", "--warmup", "1"});
  for (auto& rank : ranks) {
    const auto outcome = rank.wait(90s);
    ASSERT_TRUE(outcome.succeeded()) << outcome.output;
  }
  EXPECT_THAT(ranks[0].output(), HasSubstr("# Out of bounds values : 0 OK"));
  EXPECT_THAT(ranks[0].output(), HasSubstr(" ucx "));
  // Two ranks: any all_reduce sends at least half of the buffer, twice, from each host.
  for (int host = 0; host < 2; ++host) {
    const auto sent = hosts->bytes_sent(host) - before[host];
    EXPECT_GE(sent, kBytes * kCalls) << "host " << host;
    EXPECT_LE(sent, kBytes * kCalls * 3 / 2) << "host " << host;
  }
}

TEST(TwoHostsTest, two_links_carry_half_of_an_all_reduce_each) {
  std::string why_not;
  const auto hosts = TwoHosts::make(why_not);
  if (!hosts) GTEST_SKIP() << "no network namespaces here: " << why_not;

  constexpr std::uint64_t kBytes = 4 << 20;
  constexpr int kCalls = 1 + 1 + 5 + 1;  // checked, warm-up, timed, checked
  const std::string interfaces[] = {TwoHosts::kInterface, TwoHosts::kSecondInterface};
  const auto sent = [&](const std::string& interface) {
    return hosts->bytes_sent(0, interface) + hosts->bytes_sent(1, interface);
  };
  const std::uint64_t before[] = {sent(interfaces[0]), sent(interfaces[1])};
  auto ranks = start_ranks(
      *hosts, 2, {"all_reduce", "--min-bytes", "4M", "--max-bytes", "4M", "--iterations", "5", "--warmup", "1"},
      interfaces[0] + "," + interfaces[1]);
  for (auto& rank : ranks) {
    const auto outcome = rank.wait(90s);
    ASSERT_TRUE(outcome.succeeded()) << outcome.output;
  }
  EXPECT_THAT(ranks[0].output(), HasSubstr("# Out of bounds values : 0 OK"));
  // At least the buffer from each host, as above.
  for (int link = 0; link < 2; ++link) {
    const auto bytes = sent(interfaces[link]) - before[link];
    EXPECT_GE(bytes, kBytes * kCalls) << interfaces[link];
    EXPECT_LE(bytes, kBytes * kCalls * 3 / 2) << interfaces[link];
  }
}

TEST(TwoHostsTest, ranks_of_one_host_use_its_memory_and_the_others_the_wire) {
  std::string why_not;
  const auto hosts = TwoHosts::make(why_not);
  if (!hosts) GTEST_SKIP() << "no network namespaces here: " << why_not;

  auto ranks = start_ranks(
      *hosts, 4,
      {"all", "--min-bytes", "8", "--max-bytes", "1M", "--factor", "128", "--iterations", "3", "--root", "all"});
  for (auto& rank : ranks) {
    const auto outcome = rank.wait(90s);
    ASSERT_TRUE(outcome.succeeded()) << outcome.output;
  }
  EXPECT_THAT(ranks[0].output(), HasSubstr("# Out of bounds values : 0 OK"));
  EXPECT_THAT(ranks[0].output(), HasSubstr(" shm+ucx "));
}

}  // namespace
}  // namespace weft::test
