// What a process makes of what it hears from the others: deaths, and communicators that are made or end meanwhile.
#include "comm/control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace weft::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A job with its root communicator, but for `mute`, which does not listen: a stopped process.
class Job {
 public:
  explicit Job(int size, int mute = -1) : hub(transports::LocalStoreHub::create(size)) {
    std::vector<int> all;
    for (int rank = 0; rank < size; ++rank) {
      stores.push_back(hub->store(rank));
      all.push_back(rank);
    }
    for (int rank = 0; rank < size; ++rank) {
      controls.push_back(std::make_unique<Control>(*stores[static_cast<std::size_t>(rank)]));
      roots.push_back(std::make_unique<Member>(CommunicatorKey{0, 0}, all, rank));
      if (rank != mute) controls.back()->add(*roots.back());
    }
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() {
    for (std::size_t rank = 0; rank < roots.size(); ++rank) controls[rank]->remove(*roots[rank]);
    controls.clear();
  }
  void fail(std::size_t rank, const Status& status) { controls[rank]->fail(*roots[rank], status); }
  Status told(std::size_t rank) const { return roots[rank]->faults.status(); }

  std::unique_ptr<transports::LocalStoreHub> hub;
  std::vector<std::unique_ptr<transports::Store>> stores;
  std::vector<std::unique_ptr<Member>> roots;
  std::vector<std::unique_ptr<Control>> controls;
};

TEST(Control, a_communicator_that_is_made_after_a_death_knows_of_it) {
  Job job(4);
  Control& control = *job.controls[0];
  job.hub->die(2);
  Member with(CommunicatorKey{1, 0}, {0, 2, 3}, 0);
  Member without(CommunicatorKey{2, 0}, {0, 1, 3}, 0);
  control.add(with);
  control.add(without);
  EXPECT_EQ(with.faults.status().code(), Code::PeerLost);
  EXPECT_EQ(with.faults.status().peer(), 1);  // its rank there
  EXPECT_TRUE(without.faults.status().ok()) << without.faults.status().to_string();
  control.remove(without);
  control.remove(with);
}

TEST(Control, of_ranks_that_wait_for_each_other_the_one_that_does_not_answer_is_blamed) {
  Job job(4, 3);
  job.fail(1, Status(Code::Timeout, "rank 1 waited 5 s for rank 0", 0));
  for (const std::size_t rank : {0, 1, 2}) {
    EXPECT_EQ(job.told(rank).code(), Code::Timeout);
    EXPECT_EQ(job.told(rank).peer(), 3) << job.told(rank).to_string();
    EXPECT_THAT(std::string(job.told(rank).message()),
                AllOf(HasSubstr("rank 1 waited 5 s for rank 0"), HasSubstr("Rank 3 does not answer at all")));
  }
}

TEST(Control, the_awaited_rank_is_blamed_where_all_answer) {
  Job job(3);
  job.fail(1, Status(Code::Timeout, "rank 1 waited 5 s for rank 0", 0));
  for (const std::size_t rank : {0, 1, 2}) {
    EXPECT_EQ(job.told(rank).peer(), 0);
    EXPECT_EQ(job.told(rank).message(), "rank 1 waited 5 s for rank 0");
  }
}

TEST(Control, the_end_of_a_connection_is_told_as_a_death_where_the_store_says_so_a_little_later) {
  Job job(3, 2);
  auto failing =
      std::async(std::launch::async, [&] { job.fail(0, Status(Code::PeerLost, "rank 2 closed its transport", 2)); });
  ASSERT_EQ(failing.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  job.hub->die(2);
  failing.get();
  EXPECT_EQ(job.told(0).code(), Code::PeerLost);
  EXPECT_THAT(std::string(job.told(0).message()), HasSubstr("rank 2 died"));
}

TEST(Control, an_error_of_the_own_rank_or_of_calls_waits_for_nobody) {
  Job job(3, 2);
  const auto started = std::chrono::steady_clock::now();
  job.fail(0, Status(Code::PeerLost, "rank 0 cannot use its lanes", 0));
  job.fail(1, Status(Code::Mismatch, "rank 1 called something else", 2));
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::milliseconds(500));
}

#ifdef WEFT_ASSERTIONS
TEST(ControlDeathTest, must_not_end_before_its_communicators) {
  EXPECT_DEATH(
      {
        const auto hub = transports::LocalStoreHub::create(1);
        const auto store = hub->store(0);
        Member member(CommunicatorKey{0, 0}, {0}, 0);
        Control control(*store);
        control.add(member);
      },
      "members_.empty\\(\\)");
}
#endif

}  // namespace
}  // namespace weft::comm
