// Which launcher is found in which environment, and what an incomplete one is told. No process, no network.
#include "base/launch/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/launch/offer.hpp"
#include "base/options.hpp"

namespace weft::base {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Variables = Environment::Variables;

// Rank 0's offer goes to everybody; counts who was asked.
struct FakeWorld {
  int pmix_calls = 0;
  int pmi_calls = 0;
  std::string published = "10.0.0.1,127.0.0.1;40000;cafe";

  LaunchHelpers helpers() {
    const auto exchange = [this](int& calls) {
      return [this, &calls](const ExchangeCall& call) -> Result<std::string> {
        ++calls;
        return call.rank == 0 ? call.offer : published;
      };
    };
    return {.pmix = exchange(pmix_calls), .pmi = exchange(pmi_calls), .offer = [this](const std::string&) {
              return Result<std::string>(published);
            }};
  }
};

Result<Launch> find(Variables variables, FakeWorld world = {}) {
  return find_launch(Environment(std::move(variables)), {.interface = {}, .timeout_ms = 1000}, world.helpers());
}

Launch found(Variables variables) {
  auto launch = find(std::move(variables));
  EXPECT_TRUE(launch.has_value()) << launch.error().to_string();
  return launch.has_value() ? *launch : Launch{};
}

std::string refusal(Variables variables) {
  const auto launch = find(std::move(variables));
  EXPECT_FALSE(launch.has_value()) << launch->source << " was found";
  if (launch.has_value()) return "";
  EXPECT_EQ(launch.error().code(), Code::InvalidArgument);
  return std::string(launch.error().message());
}

Variables operator+(Variables a, const Variables& b) {
  for (const auto& entry : b) a.insert_or_assign(entry.first, entry.second);
  return a;
}

const Variables kWeft{{"WEFT_RANK", "1"}, {"WEFT_SIZE", "4"}, {"WEFT_RENDEZVOUS", "node1:29500"}};
const Variables kTorchrun{{"RANK", "2"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "node2"}, {"MASTER_PORT", "1234"}};
const Variables kOpenMpi{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "16"}, {"PMIX_NAMESPACE", "ns7"}};
const Variables kMpich{{"PMI_RANK", "4"}, {"PMI_SIZE", "32"}, {"PMI_FD", "5"}};
const Variables kSlurm{{"SLURM_PROCID", "5"},
                       {"SLURM_NTASKS", "64"},
                       {"SLURM_STEP_ID", "0"},
                       {"SLURM_JOB_ID", "77"},
                       {"SLURM_STEP_NODELIST", "n[01-03,07]"}};

TEST(Launch, nothing_set_is_one_rank) {
  EXPECT_EQ(found({}),
            (Launch{.source = "single", .rank = 0, .size = 1, .host = "", .port = 0, .port_tries = 1, .job = ""}));
  EXPECT_EQ(found({{"RANK", ""}, {"PMI_RANK", ""}}).source, "single");
}

TEST(Launch, weft_variables_name_everything) {
  EXPECT_EQ(
      found(kWeft),
      (Launch{.source = "WEFT", .rank = 1, .size = 4, .host = "node1", .port = 29500, .port_tries = 1, .job = "WEFT"}));
  EXPECT_EQ(found(kWeft + Variables{{"WEFT_RENDEZVOUS", "[fd00::1]:80"}}).host, "fd00::1");
  EXPECT_EQ(found({{"WEFT_RANK", "0"}, {"WEFT_SIZE", "1"}}).source, "WEFT");
}

TEST(Launch, weft_variables_win_over_all_others) {
  EXPECT_EQ(found(kWeft + kTorchrun + kOpenMpi + kMpich + kSlurm).source, "WEFT");
}

TEST(Launch, torchrun_is_found_with_fifteen_more_ports) {
  const Launch launch = found(kTorchrun);
  EXPECT_EQ(launch, (Launch{.source = "torchrun",
                            .rank = 2,
                            .size = 8,
                            .host = "node2",
                            .port = 1234,
                            .port_tries = 16,
                            .job = "torchrun:none:1234:0"}));
}

TEST(Launch, a_restart_under_torchrun_is_another_job) {
  const Variables run = kTorchrun + Variables{{"TORCHELASTIC_RUN_ID", "abc"}};
  EXPECT_EQ(found(run).job, "torchrun:abc:1234:0");
  EXPECT_EQ(found(run + Variables{{"TORCHELASTIC_RESTART_COUNT", "2"}}).job, "torchrun:abc:1234:2");
}

TEST(Launch, the_port_that_torchruns_agent_holds_is_not_tried) {
  const Launch launch = found(kTorchrun + Variables{{"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_EQ(launch.port, 1235);
  EXPECT_EQ(launch.port_tries, 15);
  EXPECT_EQ(found(kTorchrun + Variables{{"TORCHELASTIC_USE_AGENT_STORE", "False"}}).port, 1234);
}

TEST(Launch, torchrun_under_another_launcher_wins) {
  EXPECT_EQ(found(kTorchrun + kOpenMpi + kMpich + kSlurm).source, "torchrun");
}

TEST(Launch, open_mpi_gives_the_address_by_pmix) {
  FakeWorld world;
  const auto launch =
      find_launch(Environment(kOpenMpi + kSlurm), {.interface = {}, .timeout_ms = 1000}, world.helpers());
  ASSERT_TRUE(launch.has_value()) << launch.error().to_string();
  EXPECT_EQ(*launch, (Launch{.source = "openmpi",
                             .rank = 3,
                             .size = 16,
                             .host = "10.0.0.1,127.0.0.1",
                             .port = 40000,
                             .port_tries = 16,
                             .job = "openmpi:ns7:cafe"}));
  EXPECT_EQ(world.pmix_calls, 1);
  EXPECT_EQ(world.pmi_calls, 0);
}

TEST(Launch, rank_0_of_open_mpi_publishes_its_own_offer) {
  const Launch launch = found(kOpenMpi + Variables{{"OMPI_COMM_WORLD_RANK", "0"}});
  EXPECT_EQ(launch.rank, 0);
  EXPECT_EQ(launch.port, 40000);
}

TEST(Launch, an_address_by_hand_spares_asking_the_launcher) {
  FakeWorld world;
  for (const Variables& variables : {kOpenMpi, kMpich}) {
    const Environment by_master(variables + Variables{{"MASTER_ADDR", "node9"}, {"MASTER_PORT", "99"}});
    const auto launch = find_launch(by_master, {.interface = {}, .timeout_ms = 1000}, world.helpers());
    ASSERT_TRUE(launch.has_value()) << launch.error().to_string();
    EXPECT_EQ(launch->host, "node9");
    EXPECT_EQ(launch->port_tries, 16);
  }
  EXPECT_EQ(found(kSlurm + Variables{{"WEFT_RENDEZVOUS", "node8:88"}}).host, "node8");
  EXPECT_EQ(found(kTorchrun + Variables{{"WEFT_RENDEZVOUS", "node8:88"}}).port, 88);
  EXPECT_EQ(world.pmix_calls + world.pmi_calls, 0);
}

TEST(Launch, one_process_under_a_launcher_needs_no_address) {
  FakeWorld world;
  const Variables alone{{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}};
  ASSERT_TRUE(find_launch(Environment(alone), {.interface = {}, .timeout_ms = 1}, world.helpers()).has_value());
  EXPECT_EQ(world.pmix_calls, 0);
  EXPECT_EQ(found({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).source, "torchrun");
}

TEST(Launch, a_launcher_that_cannot_tell_the_address_is_an_error_with_the_way_out) {
  FakeWorld world;
  LaunchHelpers helpers = world.helpers();
  helpers.pmix = [](const ExchangeCall&) -> Result<std::string> {
    return Status(Code::Unsupported, "libpmix.so.2 cannot be loaded");
  };
  const auto launch = find_launch(Environment(kOpenMpi), {.interface = {}, .timeout_ms = 1000}, helpers);
  ASSERT_FALSE(launch.has_value());
  EXPECT_EQ(launch.error().code(), Code::Unsupported);
  EXPECT_THAT(launch.error().to_string(), AllOf(HasSubstr("openmpi gives rank and size but no address"),
                                                HasSubstr("WEFT_RENDEZVOUS=host:port"), HasSubstr("libpmix.so.2")));
}

TEST(Launch, nonsense_from_the_launcher_is_refused) {
  EXPECT_FALSE(find(kMpich, FakeWorld{.published = "garbage"}).has_value());
  EXPECT_FALSE(find(kMpich, FakeWorld{.published = "h;70000;j"}).has_value());
}

TEST(Launch, mpich_gives_the_address_by_pmi) {
  FakeWorld world;
  const auto launch = find_launch(Environment(kMpich + kSlurm), {.interface = {}, .timeout_ms = 1000}, world.helpers());
  ASSERT_TRUE(launch.has_value()) << launch.error().to_string();
  EXPECT_EQ(launch->source, "mpich");
  EXPECT_EQ(launch->rank, 4);
  EXPECT_EQ(launch->size, 32);
  EXPECT_EQ(launch->job, "mpich:cafe");
  EXPECT_EQ(world.pmi_calls, 1);
}

TEST(Launch, slurm_derives_host_and_port) {
  const Launch launch = found(kSlurm);
  EXPECT_EQ(launch.source, "slurm");
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.size, 64);
  EXPECT_EQ(launch.host, "n01");
  EXPECT_EQ(launch.job, "slurm:77.0:0");
  EXPECT_GE(launch.port, 20000);
  EXPECT_LT(launch.port + launch.port_tries, 32768);
  EXPECT_NE(launch.port, found(kSlurm + Variables{{"SLURM_STEP_ID", "1"}}).port);
  EXPECT_EQ(found(kSlurm + Variables{{"SLURM_RESTART_COUNT", "3"}}).job, "slurm:77.0:3");
}

TEST(Launch, a_slurm_step_may_be_smaller_than_its_job) {
  EXPECT_EQ(found(kSlurm + Variables{{"SLURM_STEP_NUM_TASKS", "6"}}).size, 6);
  Variables job_list = kSlurm;
  job_list.erase("SLURM_STEP_NODELIST");
  EXPECT_EQ(found(job_list + Variables{{"SLURM_JOB_NODELIST", "m3"}}).host, "m3");
}

TEST(Launch, a_slurm_batch_script_is_no_rank) {
  Variables script = kSlurm;
  script.erase("SLURM_STEP_ID");
  script["SLURM_PROCID"] = "0";
  EXPECT_EQ(found(script).source, "single");
  EXPECT_EQ(found({{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "2"}}).source, "single");
}

TEST(Launch, a_slurm_task_other_than_0_without_a_step_is_no_batch_script) {
  Variables task = kSlurm;
  task.erase("SLURM_STEP_ID");
  EXPECT_THAT(refusal(task), HasSubstr("Slurm: SLURM_STEP_ID is not set"));
}

TEST(Launch, ranks_that_their_launcher_did_not_start_itself_are_a_bad_argument) {
  for (const Variables& variables : {Variables{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}},
                                     Variables{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}}) {
    const auto launch = find_launch(Environment(variables), {.interface = {}, .timeout_ms = 1000},
                                    {.pmix = exchange_by_pmix, .pmi = exchange_by_pmi, .offer = {}});
    EXPECT_EQ(launch.status().code(), Code::InvalidArgument) << launch.status().to_string();
    EXPECT_THAT(launch.status().to_string(), HasSubstr("WEFT_RENDEZVOUS=host:port"));
  }
}

TEST(Launch, an_incomplete_source_is_told_what_is_missing) {
  EXPECT_THAT(refusal({{"WEFT_RANK", "0"}}), HasSubstr("WEFT_SIZE is not set"));
  EXPECT_THAT(refusal({{"WEFT_RANK", "0"}, {"WEFT_SIZE", "2"}}), HasSubstr("WEFT_RENDEZVOUS is not set"));
  EXPECT_THAT(refusal({{"WEFT_RENDEZVOUS", "a:1"}}), HasSubstr("WEFT_RANK, WEFT_SIZE are not set"));
  EXPECT_THAT(refusal({{"RANK", "0"}}), HasSubstr("torchrun: WORLD_SIZE, MASTER_ADDR, MASTER_PORT are not set"));
  EXPECT_THAT(refusal({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}),
              AllOf(HasSubstr("MASTER_PORT is"), Not(HasSubstr("MASTER_ADDR"))));
  EXPECT_THAT(refusal({{"OMPI_COMM_WORLD_RANK", "0"}}), HasSubstr("OMPI_COMM_WORLD_SIZE is not set"));
  EXPECT_THAT(refusal({{"PMI_SIZE", "2"}}), HasSubstr("PMI_RANK is not set"));
  for (const char* name : {"SLURM_NTASKS", "SLURM_JOB_ID"}) {
    Variables step = kSlurm;
    step.erase(name);
    EXPECT_THAT(refusal(step), HasSubstr(std::string(name) + " is not set"));
  }
  Variables no_list = kSlurm;
  no_list.erase("SLURM_STEP_NODELIST");
  EXPECT_THAT(refusal(no_list), HasSubstr("SLURM_JOB_NODELIST is not set"));
}

TEST(Launch, an_incomplete_source_hides_a_complete_one_behind_it_but_not_before_it) {
  EXPECT_THAT(refusal(kOpenMpi + Variables{{"RANK", "3"}}), HasSubstr("torchrun"));
  EXPECT_EQ(found(kWeft + Variables{{"RANK", "3"}}).source, "WEFT");
  EXPECT_EQ(found(kTorchrun + Variables{{"PMI_RANK", "3"}}).source, "torchrun");
}

TEST(Launch, a_source_that_contradicts_itself_is_refused_with_both_values) {
  EXPECT_THAT(refusal(kTorchrun + Variables{{"RANK", "8"}}), AllOf(HasSubstr("RANK=8"), HasSubstr("WORLD_SIZE=8")));
  EXPECT_THAT(refusal(kWeft + Variables{{"WEFT_RANK", "-1"}}), HasSubstr("WEFT_RANK=-1"));
  EXPECT_THAT(refusal(kOpenMpi + Variables{{"OMPI_COMM_WORLD_SIZE", "0"}}), HasSubstr("OMPI_COMM_WORLD_SIZE=0"));
  EXPECT_THAT(refusal(kMpich + Variables{{"PMI_RANK", "99"}}), HasSubstr("PMI_SIZE=32"));
  EXPECT_THAT(refusal(kSlurm + Variables{{"SLURM_PROCID", "64"}}), HasSubstr("SLURM_NTASKS=64"));
}

TEST(Launch, what_is_no_number_port_or_list_is_refused_by_name) {
  EXPECT_THAT(refusal(kTorchrun + Variables{{"RANK", "two"}}), HasSubstr("RANK=two is not a number"));
  EXPECT_THAT(refusal(kTorchrun + Variables{{"WORLD_SIZE", "8x"}}), HasSubstr("WORLD_SIZE=8x"));
  EXPECT_THAT(refusal(kTorchrun + Variables{{"MASTER_PORT", "66000"}}), HasSubstr("MASTER_PORT=66000"));
  for (const char* place : {"node1", "node1:", ":80", "node1:0", "node1:65536", "fd00::1:80", "[]:80", "[::1:80"}) {
    EXPECT_THAT(refusal(kWeft + Variables{{"WEFT_RENDEZVOUS", place}}),
                HasSubstr(std::string("WEFT_RENDEZVOUS=") + place));
  }
  EXPECT_THAT(refusal(kSlurm + Variables{{"SLURM_STEP_NODELIST", "n[01-03"}}),
              HasSubstr("SLURM_STEP_NODELIST=n[01-03"));
}

TEST(Launch, the_first_host_of_a_slurm_list_is_expanded) {
  EXPECT_EQ(first_host_of("n01"), "n01");
  EXPECT_EQ(first_host_of("n01,n02"), "n01");
  EXPECT_EQ(first_host_of("n[01-03,07]"), "n01");
  EXPECT_EQ(first_host_of("n[7,9-12]-ib,m1"), "n7-ib");
  EXPECT_EQ(first_host_of("rack[2-3]node[004-100]"), "rack2node004");
  EXPECT_EQ(first_host_of("n[5]"), "n5");
  EXPECT_EQ(first_host_of(""), "");
  EXPECT_EQ(first_host_of(",n1"), "");
  EXPECT_EQ(first_host_of("n["), "");
  EXPECT_EQ(first_host_of("n[]"), "");
  EXPECT_EQ(first_host_of("n[-3]"), "");
}

TEST(Launch, a_job_name_by_hand_wins) {
  EXPECT_EQ(found(kTorchrun + Variables{{"WEFT_JOB", "mine"}}).job, "mine");
  EXPECT_EQ(found(kWeft + Variables{{"WEFT_JOB", "mine"}}).job, "mine");
}

TEST(Launch, an_offer_is_read_back) {
  const auto offer = make_offer("");
  ASSERT_TRUE(offer.has_value()) << offer.error().to_string();
  EXPECT_EQ(parse_offer(to_text(*offer)).value(), *offer);
  EXPECT_THAT(offer->hosts, HasSubstr("127.0.0.1"));
  EXPECT_NE(make_offer("")->job, offer->job);
  EXPECT_EQ(make_offer("lo")->hosts.substr(0, 9), "127.0.0.1");
  EXPECT_THAT(make_offer("nowhere0").status().to_string(), HasSubstr("WEFT_INTERFACE=nowhere0"));
  for (const char* text : {"", ";;", "h;1", "h;x;j", ";1;j", "h;1;", "h;1;j;k"})
    EXPECT_FALSE(parse_offer(text).has_value()) << text;
}

TEST(Launch, options_hold_what_was_found_and_what_was_set) {
  FakeWorld world;
  const auto found =
      find_options(Environment(kTorchrun + Variables{{"WEFT_TIMEOUT", "7"}, {"WEFT_CHANELS", "2"}}), world.helpers());
  ASSERT_TRUE(found.has_value()) << found.error().to_string();
  EXPECT_EQ(found->options.rank, 2);
  EXPECT_EQ(found->options.size, 8);
  EXPECT_EQ(found->options.rendezvous_host, "node2");
  EXPECT_EQ(found->options.rendezvous_port, 1234);
  EXPECT_EQ(found->options.port_tries, 16);
  EXPECT_EQ(found->options.job_id, "torchrun:none:1234:0");
  EXPECT_EQ(found->options.source, "torchrun");
  EXPECT_EQ(found->options.timeout_ms, 7000);
  ASSERT_EQ(found->warnings.size(), 1U);
  EXPECT_THAT(found->warnings[0], HasSubstr("WEFT_CHANNELS"));
  EXPECT_THAT(
      find_options(Environment(kTorchrun + Variables{{"WEFT_TIMEOUT", "x"}}), world.helpers()).status().to_string(),
      HasSubstr("WEFT_TIMEOUT=x"));
}

}  // namespace
}  // namespace weft::base
