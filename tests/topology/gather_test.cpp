// Gathering a cluster: what ranks that die, hang or answer late do to the report, and to the streams of the others. The
// ranks are threads and scripts over one store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <thread>

#include "base/json_writer.hpp"
#include "tools/topo-probe/gather.hpp"
#include "tools/topo-probe/mailbox.hpp"
#include "tools/topo-probe/stream_message.hpp"
#include "topology/measure/tcp.hpp"

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
  EXPECT_EQ(remarks(all).size(), 4u);
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

TEST(StreamMessages, read_back_as_written) {
  for (const char* text : {"tcp listen 1", "tcp at 12 10.0.0.1,::1 40123 99", "tcp failed 3 no such device"}) {
    const auto message = parse_stream_message(text);
    ASSERT_TRUE(message) << text;
    EXPECT_EQ(to_text(*message), text);
  }
  for (const char* text :
       {"", "done", "survey measure", "tcp", "tcp listen", "tcp listen x", "udp listen 1", "rdma listen 1"})
    EXPECT_FALSE(parse_stream_message(text)) << text;
}

}  // namespace
}  // namespace weft::topo_probe
