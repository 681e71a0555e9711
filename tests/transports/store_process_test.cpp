// Ranks that are processes: what the others learn when one is killed, and what becomes of a store in a forked child.
//
// The processes are this program started again with a filter for one of the DISABLED_ tests below.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "tests/transports/store_fixture.hpp"

namespace weft::transports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kLongMs = 30'000;
constexpr const char* kRankVariable = "WEFT_TEST_RANK";
constexpr const char* kSizeVariable = "WEFT_TEST_SIZE";
constexpr const char* kPortVariable = "WEFT_TEST_PORT";

// One rank of a job, as a process that this test may kill.
class RankProcess {
 public:
  RankProcess(const char* program, int rank, int size, int port) {
    const std::string filter = std::string("--gtest_filter=StoreProcessRank.DISABLED_") + program;
    std::array<std::string, 3> arguments{"/proc/self/exe", filter, "--gtest_also_run_disabled_tests"};
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::vector<std::string> variables{std::string(kRankVariable) + "=" + std::to_string(rank),
                                       std::string(kSizeVariable) + "=" + std::to_string(size),
                                       std::string(kPortVariable) + "=" + std::to_string(port)};
    std::vector<char*> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
    for (auto& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    EXPECT_EQ(::posix_spawn(&pid_, "/proc/self/exe", nullptr, nullptr, argv.data(), environment.data()), 0);
  }
  RankProcess(const RankProcess&) = delete;
  ~RankProcess() {
    if (pid_ > 0) kill();
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    wait();
  }
  int wait() {
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

// In a process that RankProcess started.
Result<std::unique_ptr<Store>> own_store() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto number = [](const char* name) { return std::atoi(std::getenv(name)); };
  return connect_store(loopback_options(number(kRankVariable), number(kSizeVariable), number(kPortVariable)));
}

ListeningStore listen(int size) {
  auto listening = listen_store(loopback_options(0, size, 0));
  EXPECT_TRUE(listening.has_value()) << listening.error().to_string();
  return std::move(*listening);
}

// Says "ready" and waits to be killed.
TEST(StoreProcessRank, DISABLED_idler) {
  auto store = own_store();
  ASSERT_TRUE(store.has_value());
  ASSERT_TRUE((*store)->set("ready/" + std::to_string((*store)->rank()), "").ok());
  static_cast<void>((*store)->get("never", 600'000));
}

// Leaves a child behind that holds copies of all that was open, as a data loader does.
TEST(StoreProcessRank, DISABLED_parent_of_a_worker) {
  auto store = own_store();
  ASSERT_TRUE(store.has_value());
  const pid_t worker = ::fork();
  if (worker == 0) {
    ::prctl(PR_SET_PDEATHSIG, 0);
    ::alarm(60);
    ::pause();
    ::_exit(0);
  }
  ASSERT_TRUE((*store)->set("worker", std::to_string(worker)).ok());
  static_cast<void>((*store)->get("never", 600'000));
}

// Tries its parent's store in a forked child; the child must get an error, not wait, and leave the parent's connection
// alone.
TEST(StoreProcessRank, DISABLED_parent_of_a_user) {
  auto store = own_store();
  ASSERT_TRUE(store.has_value());
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    const Status status = (*store)->set("from the child", "");
    const bool refused =
        status.code() == Code::InvalidArgument && status.message().find("forked child") != std::string_view::npos;
    store->reset();
    ::_exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_TRUE((*store)->set("exit status", std::to_string(WEXITSTATUS(status))).ok());
}

// Raises in its exit code that it learned of rank 0's end as a death.
TEST(StoreProcessRank, DISABLED_mourner) {
  auto store = own_store();
  ASSERT_TRUE(store.has_value());
  Notices notices;
  (*store)->listen(notices.listener());
  // Rank 0 may be gone before it answers.
  static_cast<void>((*store)->set("ready/" + std::to_string((*store)->rank()), ""));
  const auto value = (*store)->get("never", kLongMs);
  EXPECT_EQ(value.status().code(), Code::PeerLost);
  EXPECT_EQ(value.status().peer(), 0);
  notices.wait_for_deaths(1);
  EXPECT_THAT(notices.deaths(), ElementsAre(0));
}

TEST(StoreProcessRank, DISABLED_doomed_server) {
  auto store = own_store();
  ASSERT_TRUE(store.has_value());
  for (int rank = 1; rank < (*store)->size(); ++rank) {
    ASSERT_TRUE((*store)->get("ready/" + std::to_string(rank), kLongMs).has_value());
  }
  ::raise(SIGKILL);
}

TEST(StoreProcess, a_killed_process_is_noticed_at_once_by_all) {
  auto zero = listen(3);
  auto one = connect_store(loopback_options(1, 3, zero.port));
  ASSERT_TRUE(one.has_value());
  RankProcess two("idler", 2, 3, zero.port);
  ASSERT_TRUE(zero.store->get("ready/2", kLongMs).has_value());
  Notices at_0;
  Notices at_1;
  zero.store->listen(at_0.listener());
  (*one)->listen(at_1.listener());
  const auto killed = std::chrono::steady_clock::now();
  two.kill();
  at_0.wait_for_deaths(1);
  at_1.wait_for_deaths(1);
  const auto took = std::chrono::steady_clock::now() - killed;
  EXPECT_THAT(at_0.deaths(), ElementsAre(2));
  EXPECT_THAT(at_1.deaths(), ElementsAre(2));
  EXPECT_LT(took, std::chrono::seconds(2));
  RecordProperty("noticed_us", static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
  zero.store->listen({});
  (*one)->listen({});
  (*one)->leave();
}

TEST(StoreProcess, a_forked_worker_does_not_hide_its_parents_death) {
  auto zero = listen(2);
  RankProcess one("parent_of_a_worker", 1, 2, zero.port);
  const auto worker = zero.store->get("worker", kLongMs);
  ASSERT_TRUE(worker.has_value()) << worker.error().to_string();
  Notices notices;
  zero.store->listen(notices.listener());
  one.kill();
  notices.wait_for_deaths(1);
  EXPECT_EQ(::kill(std::stoi(*worker), 0), 0) << "the worker should have outlived its parent";
  ::kill(std::stoi(*worker), SIGKILL);
  zero.store->listen({});
}

TEST(StoreProcess, a_forked_child_cannot_use_its_parents_store_nor_harm_it) {
  auto zero = listen(2);
  RankProcess one("parent_of_a_user", 1, 2, zero.port);
  EXPECT_EQ(zero.store->get("exit status", kLongMs).value(), "0");
  EXPECT_EQ(one.wait(), 0);
}

TEST(StoreProcess, when_rank_0_is_killed_all_others_learn_it) {
  const int port = listen(3).port;
  RankProcess one("mourner", 1, 3, port);
  RankProcess two("mourner", 2, 3, port);
  RankProcess zero("doomed_server", 0, 3, port);
  EXPECT_EQ(zero.wait(), -SIGKILL);
  EXPECT_EQ(one.wait(), 0);
  EXPECT_EQ(two.wait(), 0);
}

TEST(StoreProcess, no_descriptor_outlives_an_exec) {
  auto zero = listen(2);
  auto one = connect_store(loopback_options(1, 2, zero.port));
  ASSERT_TRUE(one.has_value());
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    const int flags = ::fcntl(descriptor, F_GETFD);
    if (flags < 0) continue;
    std::array<char, 256> target{};
    ::readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), target.data(), target.size() - 1);
    const std::string name = target.data();
    if (!name.starts_with("socket:") && !name.starts_with("anon_inode:")) continue;
    EXPECT_NE(flags & FD_CLOEXEC, 0) << descriptor << " is " << name;
  }
  (*one)->leave();
}

}  // namespace
}  // namespace weft::transports
