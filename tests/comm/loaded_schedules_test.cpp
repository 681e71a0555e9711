// Schedules from files run like the built-in ones: over threads and shared memory, in place, out of place and mixed, in
// passes, on groups that were split off; and all ranks use those of rank 0.
#include "algorithms/loaded_schedules.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "algorithms/export.hpp"
#include "tests/comm/support/exercise.hpp"
#include "tests/comm/support/thread_ranks.hpp"
#include "tests/support/temporary_folder.hpp"
#include "weft/schedule_builder.hpp"

namespace weft::comm {
namespace {

using ::testing::HasSubstr;

class LoadedSchedules : public ::testing::Test {
 protected:
  // The algorithm's schedule in a file of this name.
  std::string file_of(const Algorithm& algorithm, int ranks, BuildOptions options = {},
                      const std::string& name = "schedule") {
    const std::string path = folder_.path() + "/" + name + ".json";
    std::ofstream(path) << algorithms::to_json(build_schedule(algorithm, flat_group(ranks), options));
    return path;
  }

  static testing::JobOptions job_of(const Algorithm& algorithm, const std::string& file,
                                    const std::string& transport = "local") {
    testing::JobOptions job;
    job.transport = transport;
    job.options.timeout_ms = 60'000;
    job.options.schedule_files = {file};
    job.options.algorithms = fmt::format("{}:file.{}", to_string(algorithm.collective), algorithm.name);
    return job;
  }

  // Runs calls of one file; `in_place(rank)` says where.
  template <typename InPlace>
  void exercise(const Algorithm& algorithm, int ranks, const BuildOptions& build, const std::string& transport,
                const std::vector<std::uint64_t>& counts, const InPlace& in_place, testing::Complaints& complaints) {
    const std::string file = file_of(algorithm, ranks, build);
    testing::run_job(ranks, job_of(algorithm, file, transport), [&](CommunicatorState& communicator) {
      for (const std::uint64_t count : counts) {
        Operation operation = testing::call(algorithm.collective, count, DataType::Int32);
        operation.root = has_root(algorithm.collective) ? build.root : 0;
        const auto choice = communicator.explain(operation);
        ASSERT_TRUE(choice.has_value()) << choice.status().to_string();
        EXPECT_EQ(choice->winner().algorithm, fmt::format("file.{}", algorithm.name)) << choice->reason;
        const bool aliased = in_place(communicator.rank());
        complaints.add(testing::name(operation, std::string(algorithm.name), aliased, communicator.rank(), ranks),
                       testing::run_and_check(communicator, operation, aliased));
      }
    });
  }

  test::TemporaryFolder folder_;
};

const std::vector<std::uint64_t> kCounts = {0, 1, 7, 1000, 40'009};

TEST_F(LoadedSchedules, of_every_algorithm_give_right_results_wherever_calls_are) {
  testing::Complaints complaints;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const int ranks : {2, 4, 5}) {
      for (const bool made_in_place : {false, true}) {
        const BuildOptions build{.root = ranks - 1, .in_place = made_in_place};
        exercise(
            *algorithm, ranks, build, "local", kCounts, [](int) { return false; }, complaints);
        exercise(
            *algorithm, ranks, build, "local", kCounts, [](int) { return true; }, complaints);
        exercise(
            *algorithm, ranks, build, "local", kCounts, [](int rank) { return rank % 2 == 0; }, complaints);
      }
    }
  }
  EXPECT_EQ(complaints.text(), "");
}

TEST_F(LoadedSchedules, give_right_results_over_shared_memory) {
  testing::Complaints complaints;
  for (const Algorithm* algorithm : all_algorithms())
    for (const bool in_place : {false, true})
      exercise(
          *algorithm, 3, {.replicas = algorithm->replicable ? 2 : 1}, "shm", kCounts, [&](int) { return in_place; },
          complaints);
  EXPECT_EQ(complaints.text(), "");
}

// Long calls: a pass takes 64 KiB of each chunk.
TEST_F(LoadedSchedules, run_in_passes_where_that_was_proved_and_in_one_elsewhere) {
  testing::Complaints complaints;
  for (const bool uneven : {false, true})
    for (const bool in_place : {false, true})
      for (const char* name : {"all_reduce/ring", "reduce_scatter/ring", "all_to_all/bruck", "all_gather/ring"}) {
        const std::string_view text = name;
        const std::size_t slash = text.find('/');
        const Algorithm* const algorithm =
            find_algorithm(*parse_collective(text.substr(0, slash)), text.substr(slash + 1));
        exercise(
            *algorithm, 4, {.replicas = 2, .uneven = uneven}, "local", {300'007}, [&](int) { return in_place; },
            complaints);
      }
  EXPECT_EQ(complaints.text(), "");
}

TEST_F(LoadedSchedules, are_chosen_in_groups_of_their_size_only) {
  const Algorithm& ring = *find_algorithm(Collective::AllReduce, "ring");
  testing::run_job(4, job_of(ring, file_of(ring, 2)), [](CommunicatorState& communicator) {
    const Operation operation = testing::call(Collective::AllReduce, 1000, DataType::Int32);
    const auto whole = communicator.explain(operation);
    ASSERT_TRUE(whole.has_value());
    EXPECT_NE(whole->winner().algorithm, "file.ring");
    EXPECT_THAT(whole->reason, HasSubstr("file.ring, which cannot serve this call (is for 2 ranks)"));
    EXPECT_EQ(testing::run_and_check(communicator, operation, false), "");
    auto half = communicator.split(communicator.rank() / 2, 0);
    ASSERT_TRUE(half.has_value()) << half.status().to_string();
    const auto choice = (*half)->explain(operation);
    ASSERT_TRUE(choice.has_value());
    EXPECT_EQ(choice->winner().algorithm, "file.ring");
    EXPECT_EQ(testing::run_and_check(**half, operation, true), "");
  });
}

TEST_F(LoadedSchedules, of_the_canonical_order_serve_invariant_calls_and_others_do_not) {
  const Algorithm& doubling = *find_algorithm(Collective::AllReduce, "recursive_doubling");
  const Algorithm& ring = *find_algorithm(Collective::AllReduce, "ring");
  testing::JobOptions job = job_of(doubling, file_of(doubling, 3, {.canonical = true}, "canonical"));
  job.options.schedule_files.push_back(file_of(ring, 3, {}, "ring"));
  job.options.numerics = Numerics::Invariant;
  testing::run_job(3, job, [](CommunicatorState& communicator) {
    const auto choice = communicator.explain(testing::call(Collective::AllReduce, 1000, DataType::Float32));
    ASSERT_TRUE(choice.has_value());
    EXPECT_EQ(choice->winner().algorithm, "file.recursive_doubling");
    EXPECT_THAT(choice->to_string(), HasSubstr("file.ring"));
    EXPECT_THAT(choice->to_string(), HasSubstr("another order than Numerics::Invariant"));
    EXPECT_EQ(
        testing::run_and_check(communicator, testing::call(Collective::AllReduce, 1000, DataType::Float32), false), "");
  });
}

TEST_F(LoadedSchedules, serve_v_variants_if_they_were_proved_for_them) {
  const Algorithm& direct = *find_algorithm(Collective::AllGather, "direct");
  const std::string file = file_of(direct, 3, {.uneven = true});
  testing::run_job(3, job_of(direct, file), [](CommunicatorState& communicator) {
    const std::vector<std::uint64_t> counts = {5, 0, 70'000};
    const std::vector<std::uint64_t> offsets = {0, 5, 5};
    const auto own = counts[static_cast<std::size_t>(communicator.rank())];
    const std::vector<std::int32_t> in(own, communicator.rank() + 1);
    std::vector<std::int32_t> out(70'005, 0);
    const Operation operation = all_gather_v(in.data(), out.data(), {counts.data(), offsets.data()}, DataType::Int32);
    const auto choice = communicator.explain(operation);
    ASSERT_TRUE(choice.has_value()) << choice.status().to_string();
    EXPECT_EQ(choice->winner().algorithm, "file.direct");
    const Status status = communicator.run(operation);
    ASSERT_TRUE(status.ok()) << status.to_string();
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i < 5 ? 1 : 3) << i;
  });
}

TEST_F(LoadedSchedules, without_a_rule_are_weighed_by_the_model_like_the_others) {
  const Algorithm& ring = *find_algorithm(Collective::AllReduce, "ring");
  testing::JobOptions job = job_of(ring, file_of(ring, 2));
  job.options.algorithms.clear();
  testing::run_job(2, job, [](CommunicatorState& communicator) {
    const Operation operation = testing::call(Collective::AllReduce, 1000, DataType::Int32);
    EXPECT_EQ(testing::run_and_check(communicator, operation, false), "");
    const auto choice = communicator.explain(operation);
    ASSERT_TRUE(choice.has_value()) << choice.status().to_string();
    EXPECT_THAT(choice->to_string(), HasSubstr("file.ring"));
  });
}

TEST_F(LoadedSchedules, set_algorithms_knows_them) {
  const Algorithm& ring = *find_algorithm(Collective::AllReduce, "ring");
  testing::JobOptions job = job_of(ring, file_of(ring, 2));
  job.options.algorithms.clear();
  testing::run_job(2, job, [](CommunicatorState& communicator) {
    const Operation operation = testing::call(Collective::AllReduce, 1000, DataType::Int32);
    EXPECT_EQ(communicator.set_algorithms("all_reduce:file.tree").code(), Code::InvalidArgument);
    ASSERT_TRUE(communicator.set_algorithms("all_reduce:file.ring").ok());
    EXPECT_EQ(communicator.explain(operation)->winner().algorithm, "file.ring");
    EXPECT_EQ(testing::run_and_check(communicator, operation, false), "");
  });
}

}  // namespace
}  // namespace weft::comm
