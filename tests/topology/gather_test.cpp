// Gathering a cluster: what ranks that die, hang or answer late do to the report, and to the streams of the others. The
// ranks are threads and scripts over one store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>

#include "base/json_writer.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tools/topo-probe/gather.hpp"
#include "tools/topo-probe/mailbox.hpp"
#include "tools/topo-probe/stream_message.hpp"
#include "topology/measure/measure.hpp"
#include "topology/measure/rdma_ports.hpp"
#include "topology/measure/tcp.hpp"
#include "topology/sources.hpp"

namespace weft::topo_probe {
namespace {

using base::Deadline;
using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using topology::Survey;
using topology::cluster::ClusterNode;
using Nodes = Result<std::vector<ClusterNode>>;

constexpr int kPatienceMs = 60'000;

Result<Survey> small_survey(bool) {
  Survey survey;
  survey.graph = *topology::model("gpu:2");
  survey.hosts.emplace_back();
  return survey;
}

GatherOptions measuring(int timeout_ms = kPatienceMs) {
  return {Deadline::after_ms(timeout_ms), timeout_ms, true, small_survey};
}

Options host(const std::string& id) {
  Options options;
  options.host_id = id;
  return options;
}

// A rank that says what the test wants.
class Script {
 public:
  explicit Script(std::unique_ptr<transports::Store> store) : store_(std::move(store)), mailbox_(*store_) {}

  void say(const std::string& message) { EXPECT_TRUE(store_->send(0, message).ok()); }
  void say(std::string_view word, int number, const std::string& rest = {}) {
    say(to_text({"tcp", word, number, rest}));
  }
  // The next message that is not another's death.
  std::string hear() {
    while (const std::optional<Event> event = mailbox_.next(Deadline::after_ms(kPatienceMs)))
      if (event->message) return *event->message;
    ADD_FAILURE() << "nothing was said";
    return {};
  }
  // The number of the stream that it is told of by this word, and what else is said.
  std::pair<int, std::string> hear_stream(std::string_view word) {
    const std::string text = hear();
    const auto message = parse_stream_message(text);
    EXPECT_TRUE(message && message->word == word) << text;
    return message ? std::pair(message->number, std::string(message->rest)) : std::pair(0, std::string());
  }
  void tell_survey() {
    EXPECT_THAT(hear(), HasSubstr("survey"));
    base::JsonWriter json;
    json.begin_object();
    write_survey(json, *small_survey(true));
    json.end_object();
    say("survey " + std::move(json).text());
  }

 private:
  std::unique_ptr<transports::Store> store_;
  Mailbox mailbox_;
};

// Rank 0 and the ranks up to `real` run as the program would; the test plays the others.
class Gather : public testing::Test {
 protected:
  void start(int size, int real, GatherOptions how = measuring()) {
    hub_ = transports::LocalStoreHub::create(size);
    gathered_ = std::async(std::launch::async, [this, how] {
      const auto store = hub_->store(0);
      Nodes nodes = gather(*store, host("zero"), how);
      store->leave();
      return nodes;
    });
    for (int rank = 1; rank <= real; ++rank)
      real_.emplace_back([this, rank, how] {
        const auto store = hub_->store(rank);
        EXPECT_TRUE(answer(*store, host("real" + std::to_string(rank)), how).ok());
        store->leave();
      });
  }
  std::unique_ptr<Script> script(int rank, const std::string& name) {
    auto one = std::make_unique<Script>(hub_->store(rank));
    one->say("host scripted" + std::to_string(rank) + " " + name);
    return one;
  }
  std::vector<ClusterNode> nodes() {
    EXPECT_EQ(gathered_.wait_for(std::chrono::milliseconds(kPatienceMs)), std::future_status::ready);
    Nodes nodes = gathered_.get();
    EXPECT_TRUE(nodes) << nodes.status().to_string();
    real_.clear();
    return nodes ? std::move(*nodes) : std::vector<ClusterNode>();
  }
  static std::vector<double> rates(const std::vector<ClusterNode>& nodes, bool at_once) {
    std::vector<double> rates;
    for (const ClusterNode& node : nodes)
      for (const auto& stream : node.streams)
        if (stream.at_once == at_once) rates.push_back(stream.gbs);
    return rates;
  }
  // "tcp from A to B: why"
  static std::vector<std::string> remarks(const std::vector<ClusterNode>& nodes) {
    std::vector<std::string> remarks;
    for (const ClusterNode& node : nodes)
      if (node.survey)
        for (const topology::Remark& remark : node.survey->remarks) {
          EXPECT_EQ(remark.kind, topology::RemarkKind::Unmeasured);
          remarks.push_back(remark.subject + ": " + remark.evidence);
        }
    return remarks;
  }

  std::unique_ptr<transports::LocalStoreHub> hub_;
  std::future<Nodes> gathered_;
  std::vector<std::jthread> real_;
};

TEST_F(Gather, streams_between_all_hosts_are_measured_alone_and_at_once) {
  start(3, 2);
  const std::vector<ClusterNode> all = nodes();
  EXPECT_EQ(rates(all, false).size(), 3u);
  EXPECT_EQ(rates(all, true).size(), 3u);
  EXPECT_THAT(remarks(all), IsEmpty());
}

TEST_F(Gather, a_host_that_died_before_it_told_takes_no_stream_from_the_others) {
  start(3, 1);
  {
    const auto dying = script(2, "dying");
    EXPECT_EQ(dying->hear(), "survey measure");
    hub_->die(2);
  }
  const std::vector<ClusterNode> all = nodes();
  EXPECT_THAT(all, Contains(AllOf(Field(&ClusterNode::name, "dying"),
                                  Field(&ClusterNode::failure, "rank 2 died before it told"))));
  EXPECT_EQ(rates(all, false).size(), 2u);
  EXPECT_THAT(remarks(all), IsEmpty());
}

TEST_F(Gather, a_host_that_fails_takes_no_stream_from_the_others) {
  start(3, 1);
  const auto failing = script(2, "failing");
  EXPECT_EQ(failing->hear(), "survey measure");
  failing->say("failed there is no /sys");
  const std::vector<ClusterNode> all = nodes();
  EXPECT_THAT(all, Contains(Field(&ClusterNode::failure, "there is no /sys")));
  EXPECT_EQ(rates(all, false).size(), 2u);
}

TEST_F(Gather, a_host_that_hangs_leaves_time_for_the_streams_of_the_others) {
  start(3, 1, measuring(8'000));
  const auto hanging = script(2, "hanging");
  const std::vector<ClusterNode> all = nodes();
  EXPECT_THAT(all, Contains(Field(&ClusterNode::failure, "rank 2 did not tell for 6 s")));
  EXPECT_EQ(rates(all, false).size(), 2u);
}

TEST_F(Gather, a_rank_that_dies_while_streams_run_ends_its_own_only) {
  start(4, 2);
  {
    const auto dying = script(3, "dying");
    dying->tell_survey();
    dying->hear();  // it is told of a stream: listen or send
    hub_->die(3);
  }
  const std::vector<ClusterNode> all = nodes();
  // Of four streams in a circle two have an end on it.
  EXPECT_EQ(rates(all, false).size(), 2u);
  EXPECT_EQ(rates(all, true).size(), 2u);
  EXPECT_EQ(remarks(all).size(), 2u);
  EXPECT_THAT(remarks(all), testing::Each(AllOf(HasSubstr("dying"), HasSubstr("rank 3 on dying died"))));
}

TEST_F(Gather, an_answer_that_comes_late_is_not_counted_for_another_stream) {
  // Rank 0 is the first to tell, so that the first stream is from there.
  std::promise<void> looked;
  GatherOptions how = measuring();
  how.survey = [&](bool measure) {
    looked.set_value();
    return small_survey(measure);
  };
  start(2, 0, how);
  looked.get_future().wait();
  const auto late = script(1, "late");
  late->tell_survey();
  const int first = late->hear_stream("listen").first;
  late->say("failed", first, "no port");
  const auto [second, place] = late->hear_stream("send");
  EXPECT_NE(second, first);
  late->say("rate", first, "99");
  late->say("failed", first, "again");
  const auto point = topology::parse_meeting_point(place);
  EXPECT_TRUE(point && topology::send_tcp(*point, 20, Deadline::after_ms(kPatienceMs)).ok());
  late->say("sent", second);
  const std::vector<ClusterNode> all = nodes();
  ASSERT_EQ(rates(all, false).size(), 1u);
  EXPECT_NE(rates(all, false).front(), 99);
  ASSERT_EQ(remarks(all).size(), 1u);
  EXPECT_THAT(remarks(all).front(), HasSubstr("to late: rank 1: no port"));
}

// Two NICs, the first of 40 Gbit/s (what the library reaches), the second too.
Result<Survey> survey_with_nics(bool measure) {
  Survey survey = *small_survey(measure);
  survey.graph = *topology::model("gpu:2 nic:2 eth:40");
  for (int i = 0; i < 2; ++i) {
    topology::DeviceFacts& nic = survey.hosts[0].devices.emplace_back();
    nic.node = "nic" + std::to_string(i);
    nic.verbs = "mlx5_" + std::to_string(i);
    nic.ports.emplace_back().state = "ACTIVE";
    nic.ports.back().link_layer = "InfiniBand";
  }
  for (topology::Node& node : survey.graph.nodes)
    if (node.kind == topology::NodeKind::Nic) node.fabric = true;
  return survey;
}

// One of the two has no active port.
Result<Survey> survey_with_nic(bool measure) {
  Result<Survey> survey = survey_with_nics(measure);
  survey->hosts[0].devices[1].ports[0].state = "DOWN";
  return survey;
}

class GatherRdma : public Gather {
 protected:
  GatherRdma() {
    ::setenv("WEFT_TEST_VERBS_LIBRARY", FAKE_RDMA, 1);
    ::setenv("WEFT_TEST_RDMA_FOLDER", folder_.path().c_str(), 1);
  }
  ~GatherRdma() override {
    for (const char* name : {"WEFT_TEST_VERBS_LIBRARY", "WEFT_TEST_RDMA_FOLDER", "WEFT_TEST_RDMA"}) ::unsetenv(name);
  }
  std::vector<ClusterNode> gather_as(const std::string& role, Result<Survey> (*survey)(bool) = survey_with_nics) {
    ::setenv("WEFT_TEST_RDMA", role.c_str(), 1);
    GatherOptions how = measuring();
    how.survey = survey;
    start(2, 1, how);
    return nodes();
  }
  static std::vector<topology::cluster::StreamRate> rdma(const std::vector<ClusterNode>& nodes) {
    std::vector<topology::cluster::StreamRate> rates;
    for (const ClusterNode& node : nodes)
      for (const auto& stream : node.streams)
        if (stream.what == topology::kRdma) rates.push_back(stream);
    return rates;
  }

  const weft::test::TemporaryFolder folder_;
};

TEST_F(GatherRdma, is_measured_from_each_nic_to_the_same_one_of_the_next_host) {
  const std::vector<ClusterNode> all = gather_as("4");
  EXPECT_THAT(remarks(all), IsEmpty());
  const auto rates = rdma(all);
  ASSERT_EQ(rates.size(), 8u);  // two NICs, two directions, alone and at once
  for (const auto& rate : rates) {
    EXPECT_EQ(rate.from_nic, rate.to_nic);
    EXPECT_GT(rate.gbs, 0);
    EXPECT_LT(rate.gbs, 4.2);
    EXPECT_GT(rate.latency_us.value_or(0), 0);
  }
}

TEST_F(GatherRdma, that_is_slow_is_a_finding_and_corrects_the_topology) {
  const Result<topology::cluster::ClusterReport> report = topology::cluster::make_cluster_report(gather_as("slow:4"));
  ASSERT_TRUE(report);
  EXPECT_THAT(cluster_text(*report), testing::ContainsRegex("rdma: .*/nic1 to .*/nic1: 0[.][0-9]+ GB/s, .* us"));
  EXPECT_THAT(cluster_findings_text(*report), testing::ContainsRegex("perf.below_nominal.* nic1"));
  const topology::Graph better = topology::corrected(report->merged);
  double slow = 0;
  double fast = 0;
  for (const topology::Link& link : better.links) {
    if (link.kind != topology::LinkKind::Network) continue;
    const std::string& nic = better.nodes[static_cast<std::size_t>(link.a)].name;
    EXPECT_EQ(link.source, topology::kMeasured);
    (nic == "nic1" ? slow : fast) = link.bandwidth_gbs;
  }
  EXPECT_GT(fast, slow);
}

TEST_F(GatherRdma, that_no_device_offers_is_told) {
  const std::vector<ClusterNode> all = gather_as("unconnected");
  EXPECT_THAT(rdma(all), IsEmpty());
  EXPECT_THAT(remarks(all), testing::Each(AllOf(HasSubstr("rdma from "), HasSubstr("a reliable connection"))));
  EXPECT_EQ(remarks(all).size(), 4u) << "each alone, and not again at once";
  EXPECT_EQ(rates(all, false).size(), 2u) << "TCP is measured all the same";
}

TEST_F(GatherRdma, that_brings_other_bytes_is_no_rate) {
  const std::vector<ClusterNode> all = gather_as("corrupts", survey_with_nic);
  EXPECT_THAT(rdma(all), IsEmpty());
  EXPECT_EQ(remarks(all).size(), 2u);
  EXPECT_THAT(remarks(all), testing::Each(HasSubstr("other bytes came than were written")));
}

TEST_F(GatherRdma, whose_writes_are_never_confirmed_ends_in_time) {
  const std::vector<ClusterNode> all = gather_as("deaf", survey_with_nic);
  EXPECT_THAT(rdma(all), IsEmpty());
  EXPECT_EQ(remarks(all).size(), 2u);
  EXPECT_THAT(remarks(all), testing::Each(HasSubstr("a write is not confirmed")));
}

TEST_F(GatherRdma, whose_library_hangs_is_given_up) {
  const std::vector<ClusterNode> all = gather_as("hangs", survey_with_nic);
  EXPECT_THAT(rdma(all), IsEmpty());
  EXPECT_THAT(remarks(all), testing::Each(HasSubstr("it did not answer in time")));
  EXPECT_EQ(rates(all, false).size(), 2u);
}

TEST(RdmaPorts, are_active_ones_with_a_gid_that_is_routed) {
  Survey survey = *survey_with_nics(true);
  const auto devices = [&] {
    std::vector<std::string> names;
    for (const topology::RdmaPort& port : topology::rdma_ports(survey)) names.push_back(port.device);
    return names;
  };
  EXPECT_THAT(devices(), testing::ElementsAre("mlx5_0", "mlx5_1"));
  topology::PortFacts& port = survey.hosts[0].devices[0].ports[0];
  port.link_layer = "Ethernet";
  EXPECT_THAT(devices(), testing::ElementsAre("mlx5_1"));
  port.gids = {{1, "fe80::1", "RoCE v2", "eth0"}, {3, "::ffff:10.0.0.1", "RoCE v2", "eth0"}};
  EXPECT_EQ(topology::rdma_ports(survey).front().gid, 3);
  survey.hosts[0].devices[1].ports[0].state = "DOWN";
  EXPECT_THAT(devices(), testing::ElementsAre("mlx5_0"));
}

TEST(StreamMessages, read_back_as_written) {
  for (const char* text : {"tcp listen 1", "tcp at 12 10.0.0.1,::1 40123 99", "rdma failed 3 no such device"}) {
    const auto message = parse_stream_message(text);
    ASSERT_TRUE(message) << text;
    EXPECT_EQ(to_text(*message), text);
  }
  for (const char* text : {"", "done", "survey measure", "tcp", "tcp listen", "tcp listen x", "udp listen 1"})
    EXPECT_FALSE(parse_stream_message(text)) << text;
}

}  // namespace
}  // namespace weft::topo_probe
