// What goes wrong on one rank while the ranks agree is told to all of them, at once and in the same words; and what
// rank 0 says is checked.
#include "comm/agreement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <future>

#include "algorithms/export.hpp"
#include "base/file_descriptor.hpp"
#include "comm/merge_agreement.hpp"
#include "comm/publish.hpp"
#include "comm/runtime.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "tests/support/no_threads.hpp"
#include "tests/support/temporary_folder.hpp"
#include "transports/local.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// Ranks 0 and 1 run on one host, 2 and 3 on another.
class Job {
 public:
  Job() {
    for (std::size_t rank = 0; rank < options.size(); ++rank) {
      options[rank].rank = static_cast<int>(rank);
      options[rank].size = static_cast<int>(options.size());
      options[rank].timeout_ms = 20'000;
      options[rank].topology_file = "model:cpu-2socket";
      options[rank].host_id = rank < 2 ? "left" : "right";
    }
  }

  Status create(int rank) {
    RuntimeParts parts;
    parts.options = options[static_cast<std::size_t>(rank)];
    parts.store = stores->store(rank);
    parts.transports.push_back(local->transport(rank));
    return Runtime::create(std::move(parts)).status();
  }
  // What each rank was told, and that it was soon.
  std::vector<Status> create_all() {
    std::vector<Status> told(options.size());
    const auto started = Clock::now();
    testing::run_ranks(static_cast<int>(options.size()),
                       [&](int rank) { told[static_cast<std::size_t>(rank)] = create(rank); });
    EXPECT_LT(Clock::now() - started, std::chrono::seconds(10));
    return told;
  }

  std::array<Options, 4> options;
  std::unique_ptr<transports::LocalStoreHub> stores = transports::LocalStoreHub::create(4);
  std::unique_ptr<transports::LocalHub> local = transports::LocalHub::create();
};

void expect_all_blame(const std::vector<Status>& told, Code code, int rank) {
  for (const Status& status : told) {
    EXPECT_EQ(status.code(), code) << status.to_string();
    EXPECT_EQ(status.peer(), rank) << status.to_string();
    EXPECT_EQ(status.message(), told.front().message());
  }
}

TEST(Agree, ranks_that_are_well_agree) {
  for (const Status& status : Job().create_all()) EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST(Agree, a_topology_that_the_first_rank_of_a_host_cannot_read_is_told_to_all) {
  for (const int culprit : {0, 2}) {
    Job job;
    job.options[static_cast<std::size_t>(culprit)].topology_file = "/nowhere/machine.json";
    const auto told = job.create_all();
    expect_all_blame(told, Code::NotFound, culprit);
    EXPECT_THAT(std::string(told.front().message()),
                AllOf(HasSubstr("rank " + std::to_string(culprit)), HasSubstr("WEFT_TOPOLOGY=/nowhere/machine.json")));
  }
}

TEST(Agree, a_topology_that_is_none_is_a_bad_argument) {
  const base::FileDescriptor nothing(::memfd_create("nothing", MFD_CLOEXEC));
  const std::string empty = "/proc/self/fd/" + std::to_string(nothing.get());
  for (const std::string& file : {empty, std::string("/dev/zero"), std::string("/proc"), std::string("model:bicycle"),
                                  std::string("model:hosts:2")}) {
    Job job;
    job.options[0].topology_file = file;
    const auto told = job.create_all();
    expect_all_blame(told, told.front().code(), 0);
    EXPECT_TRUE(told.front().code() == Code::InvalidArgument || told.front().code() == Code::NotFound)
        << told.front().to_string();
    EXPECT_THAT(std::string(told.front().message()), HasSubstr("WEFT_TOPOLOGY=" + file));
  }
}

// A file with so many measured times.
class TableFile {
 public:
  explicit TableFile(int cells) : file_(::memfd_create("table", MFD_CLOEXEC)) {
    algorithms::MeasuredTable table{"somewhere", {}};
    for (int i = 0; i < cells; ++i) table.cells.push_back({Collective::AllReduce, i + 1, 8, "ring", 1, 5});
    const std::string text = table.to_json();
    EXPECT_EQ(::write(file_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  base::FileDescriptor file_;
};

TEST(Agree, the_table_of_rank_0_is_that_of_all) {
  const TableFile table(3);
  Job job;
  job.options[0].table_file = job.options[2].table_file = table.path();
  testing::run_ranks(4, [&](int rank) {
    RuntimeParts parts;
    parts.options = job.options[static_cast<std::size_t>(rank)];
    parts.store = job.stores->store(rank);
    parts.transports.push_back(job.local->transport(rank));
    const auto runtime = Runtime::create(std::move(parts));
    ASSERT_TRUE(runtime.has_value()) << runtime.error().to_string();
    ASSERT_NE((*runtime)->table(), nullptr);
    EXPECT_EQ((*runtime)->table()->cells.size(), 3U);
  });
}

TEST(Agree, tables_that_differ_are_an_error_that_names_the_ranks) {
  const TableFile one(1);
  const TableFile other(2);
  Job job;
  job.options[0].table_file = one.path();
  job.options[1].table_file = job.options[3].table_file = other.path();
  for (const Status& status : job.create_all()) {
    EXPECT_EQ(status.code(), Code::InvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("WEFT_TABLE: ranks 1, 3 have another table than rank 0;"));
  }
  Job without;
  without.options[2].table_file = one.path();
  EXPECT_THAT(std::string(without.create_all().front().message()),
              HasSubstr("ranks 2 have another table than rank 0, which has none"));
}

TEST(Agree, a_table_that_cannot_be_read_is_told_to_all) {
  for (const int culprit : {0, 3}) {
    Job job;
    job.options[static_cast<std::size_t>(culprit)].table_file = "/nowhere/table.json";
    const auto told = job.create_all();
    expect_all_blame(told, Code::NotFound, culprit);
    EXPECT_THAT(std::string(told.front().message()), HasSubstr("WEFT_TABLE=/nowhere/table.json"));
  }
}

// A file with the ring of so many ranks; `steps_left_out` are dropped from rank 1.
std::string ring_file(const test::TemporaryFolder& folder, int ranks, int steps_left_out = 0) {
  Schedule ring = build_schedule(*find_algorithm(Collective::AllReduce, "ring"), flat_group(ranks));
  for (int i = 0; i < steps_left_out; ++i) ring.ranks[1].channels[0].pop_back();
  const std::string path = folder.path() + "/ring" + std::to_string(ranks) + "-" + std::to_string(steps_left_out);
  std::ofstream(path) << algorithms::to_json(ring);
  return path;
}

TEST(Agree, the_schedules_of_rank_0_are_those_of_all) {
  const test::TemporaryFolder folder;
  Job job;
  job.options[0].schedule_files = job.options[2].schedule_files = {ring_file(folder, 4), ring_file(folder, 3)};
  testing::run_ranks(4, [&](int rank) {
    RuntimeParts parts;
    parts.options = job.options[static_cast<std::size_t>(rank)];
    parts.store = job.stores->store(rank);
    parts.transports.push_back(job.local->transport(rank));
    const auto runtime = Runtime::create(std::move(parts));
    ASSERT_TRUE(runtime.has_value()) << runtime.error().to_string();
    ASSERT_EQ((*runtime)->schedules().all().size(), 2U);
    EXPECT_EQ((*runtime)->schedules().all().back().name, "file.ring");
  });
}

TEST(Agree, schedules_that_differ_are_an_error_that_names_the_ranks) {
  const test::TemporaryFolder folder;
  Job job;
  job.options[0].schedule_files = {ring_file(folder, 4)};
  job.options[1].schedule_files = job.options[3].schedule_files = {ring_file(folder, 3)};
  for (const Status& status : job.create_all()) {
    EXPECT_EQ(status.code(), Code::InvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("WEFT_SCHEDULES: ranks 1, 3 have other schedules than rank 0;"));
  }
  Job without;
  without.options[2].schedule_files = {ring_file(folder, 4)};
  EXPECT_THAT(std::string(without.create_all().front().message()),
              HasSubstr("ranks 2 have other schedules than rank 0, which has none"));
}

TEST(Agree, a_schedule_that_is_wrong_is_told_to_all_with_file_and_step) {
  const test::TemporaryFolder folder;
  const std::string file = ring_file(folder, 4, 1);
  Job job;
  for (Options& options : job.options) options.schedule_files = {file};
  const auto told = job.create_all();
  expect_all_blame(told, Code::InvalidArgument, 0);
  EXPECT_THAT(std::string(told.front().message()),
              AllOf(HasSubstr("WEFT_SCHEDULES: " + file + ": all_reduce/ring on 4 ranks: "), HasSubstr("rank "),
                    HasSubstr("step ")));
}

TEST(Agree, a_schedule_that_cannot_be_read_is_told_to_all) {
  for (const int culprit : {0, 3}) {
    Job job;
    job.options[static_cast<std::size_t>(culprit)].schedule_files = {"/nowhere/ring.json"};
    const auto told = job.create_all();
    expect_all_blame(told, Code::NotFound, culprit);
    EXPECT_THAT(std::string(told.front().message()), HasSubstr("WEFT_SCHEDULES: cannot read /nowhere/ring.json"));
  }
}

TEST(Agree, a_rank_that_does_not_come_is_named_by_all_in_the_same_words) {
  Job job;
  for (Options& options : job.options) options.timeout_ms = 500;
  std::vector<Status> told(3);
  testing::run_ranks(3, [&](int rank) { told[static_cast<std::size_t>(rank)] = job.create(rank); });
  expect_all_blame(told, Code::Timeout, 3);
}

TEST(Agree, ranks_that_come_late_one_after_the_other_share_one_deadline) {
  Job job;
  for (Options& options : job.options) options.timeout_ms = 1'000;
  const auto started = Clock::now();
  auto first = std::async(std::launch::async, [&] { return job.create(0); });
  ASSERT_EQ(first.wait_for(std::chrono::milliseconds(700)), std::future_status::timeout);
  auto second = std::async(std::launch::async, [&] { return job.create(1); });
  EXPECT_EQ(first.get().code(), Code::Timeout);
  EXPECT_LT(Clock::now() - started, std::chrono::milliseconds(1'500));
  EXPECT_EQ(second.get().code(), Code::Timeout);
}

TEST(Agree, a_rank_that_gets_no_helper_thread_takes_no_other_down_with_it_unheard) {
  Job job;
  job.options[3].progress_thread = true;
  std::vector<Status> told;
  std::vector<std::future<Status>> others;
  for (int rank = 0; rank < 3; ++rank)
    others.push_back(std::async(std::launch::async, [&job, rank] { return job.create(rank); }));
  {
    const test::NoMoreThreads no_more_threads;
    told.push_back(job.create(3));
  }
  for (auto& other : others) told.push_back(other.get());
  expect_all_blame(told, Code::ResourceExhausted, 3);
}

TEST(Agree, an_agreement_of_fewer_ranks_is_not_believed) {
  const auto stores = transports::LocalStoreHub::create(2);
  const auto first = stores->store(0);
  const auto second = stores->store(1);
  const std::string facts = join_facts({to_json(RankFacts{}), to_json(RankFacts{})});
  Agreement of_one;
  of_one.ranks.resize(1);
  of_one.hosts = {"host"};
  of_one.oversubscribed = {false};
  of_one.graph = *topology::model("cpu-2socket");
  ASSERT_TRUE(publish(*first, "agree/facts", facts).ok());
  ASSERT_TRUE(publish(*first, "agree/result", to_json(of_one)).ok());
  const Options options;
  const Transports none;
  const auto agreed = agree(*second, {.options = options, .transports = none, .graph = nullptr, .failure = {}});
  EXPECT_EQ(agreed.status().code(), Code::Corrupt) << agreed.status().to_string();
}

}  // namespace
}  // namespace weft::comm
