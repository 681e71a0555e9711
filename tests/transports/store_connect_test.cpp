// How ranks find rank 0 over TCP, and whom it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <future>
#include <thread>

#include "base/socket.hpp"
#include "tests/transports/store_fixture.hpp"
#include "transports/store/frame_stream.hpp"
#include "transports/store/hello.hpp"
#include "transports/store/server.hpp"

namespace weft::transports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kLongMs = 20'000;
using Clock = std::chrono::steady_clock;

std::string error_of(const Result<std::unique_ptr<Store>>& result) {
  return result.has_value() ? "joined" : result.error().to_string();
}

ListeningStore listen(const Options& options) {
  auto listening = listen_store(options);
  EXPECT_TRUE(listening.has_value()) << listening.error().to_string();
  return std::move(*listening);
}

base::SocketAddress loopback(int port) { return base::resolve("127.0.0.1", port).value().front(); }

// A client that speaks the wire by hand.
class RawClient {
 public:
  explicit RawClient(int port) : stream_(connected(port)) {}
  void send(const Frame& frame) {
    EXPECT_TRUE(stream_.queue(frame));
    stream_.flush();
  }
  void send_bytes(std::string_view bytes) {
    EXPECT_EQ(::send(stream_.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Nothing: the other side ended.
  std::optional<Frame> receive() {
    const auto deadline = base::Deadline::after_ms(kLongMs);
    while (!deadline.passed()) {
      const bool open = stream_.read();
      auto frame = stream_.next();
      if (!frame.has_value() || *frame) return frame.has_value() ? *frame : std::nullopt;
      if (!open) return {};
      pollfd polled{.fd = stream_.descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&polled, 1, deadline.remaining_ms());
    }
    ADD_FAILURE() << "no answer";
    return {};
  }

 private:
  static base::FileDescriptor connected(int port) {
    auto socket = base::connect_to(loopback(port), base::Deadline::after_ms(kLongMs));
    EXPECT_TRUE(socket.has_value());
    return std::move(*socket);
  }
  FrameStream stream_;
};

Frame hello_frame(std::string job, int size, int rank, std::string process = "process 1 elsewhere") {
  return to_frame(Hello{.job = std::move(job), .size = size, .rank = rank, .process = std::move(process)});
}

TEST(StoreConnect, a_job_of_one_rank_needs_no_network) {
  Options options;
  options.rank = 0;
  options.size = 1;
  auto store = connect_store(options);
  ASSERT_TRUE(store.has_value());
  ASSERT_TRUE((*store)->set("key", "value").ok());
  EXPECT_EQ((*store)->get("key", 0).value(), "value");
}

TEST(StoreConnect, options_that_cannot_work_are_refused_by_name) {
  EXPECT_THAT(error_of(connect_store(Options{})), HasSubstr("rank -1 of -1 ranks"));
  Options no_host = loopback_options(0, 2, 29500);
  no_host.rendezvous_host.clear();
  EXPECT_THAT(error_of(connect_store(no_host)), HasSubstr("WEFT_RENDEZVOUS=host:port"));
  EXPECT_THAT(error_of(connect_store(loopback_options(1, 2, 0))), HasSubstr("0 is no port"));
  EXPECT_THAT(error_of(connect_store(loopback_options(0, 2, 65536))), HasSubstr("65536 is no port"));
  Options long_job = loopback_options(0, 2, 29500);
  long_job.job_id.assign(513, 'x');
  EXPECT_THAT(error_of(connect_store(long_job)), HasSubstr("513 bytes"));
}

TEST(StoreConnect, an_unknown_interface_is_refused_with_those_that_exist) {
  Options options = loopback_options(0, 2, 29500);
  options.interface = "nowhere0";
  EXPECT_THAT(error_of(connect_store(options)), AllOf(HasSubstr("WEFT_INTERFACE=nowhere0"), HasSubstr("lo")));
}

TEST(StoreConnect, rank_0_may_come_last) {
  const int port = listen(loopback_options(0, 2, 0)).port;  // free again when this line ends
  auto joining = std::async(std::launch::async, [&] { return connect_store(loopback_options(1, 2, port)); });
  ASSERT_EQ(joining.wait_for(std::chrono::milliseconds(150)), std::future_status::timeout);
  auto zero = connect_store(loopback_options(0, 2, port));
  ASSERT_TRUE(zero.has_value()) << zero.error().to_string();
  auto one = joining.get();
  ASSERT_TRUE(one.has_value()) << one.error().to_string();
  (*one)->leave();
}

TEST(StoreConnect, without_rank_0_the_deadline_says_where_it_was_looked_for) {
  const int port = listen(loopback_options(0, 2, 0)).port;
  const auto started = Clock::now();
  const auto store = connect_store(loopback_options(1, 2, port, 300));
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code(), Code::Timeout);
  EXPECT_THAT(error_of(store), AllOf(HasSubstr("rank 1 did not find rank 0 of job 'test job' in 0.3 s"),
                                     HasSubstr("127.0.0.1:" + std::to_string(port) + ": Connection refused")));
  EXPECT_LT(Clock::now() - started, std::chrono::seconds(5));
}

TEST(StoreConnect, a_host_that_does_not_exist_is_named) {
  Options options = loopback_options(1, 2, 29500, 100);
  options.rendezvous_host = "no-such-host.invalid";
  EXPECT_THAT(error_of(connect_store(options)), HasSubstr("host 'no-such-host.invalid'"));
}

TEST(StoreConnect, of_several_hosts_the_one_that_answers_is_taken) {
  auto zero = listen(loopback_options(0, 2, 0));
  Options options = loopback_options(1, 2, zero.port);
  options.rendezvous_host = "no-such-host.invalid,127.0.0.2,127.0.0.1";  // rank 0 listens on the last alone
  auto one = connect_store(options);
  ASSERT_TRUE(one.has_value()) << one.error().to_string();
  (*one)->leave();
}

TEST(StoreConnect, ranks_of_another_job_are_refused_with_both_names) {
  auto zero = listen(loopback_options(0, 2, 0));
  Options options = loopback_options(1, 2, zero.port, 300);
  options.job_id = "other job";
  EXPECT_THAT(error_of(connect_store(options)), HasSubstr("this is job 'test job', not 'other job'"));
}

TEST(StoreConnect, another_job_on_the_only_port_is_not_waited_for_until_the_deadline) {
  auto zero = listen(loopback_options(0, 2, 0));
  Options options = loopback_options(1, 2, zero.port);
  options.job_id = "other job";
  const auto started = Clock::now();
  const auto store = connect_store(options);
  EXPECT_THAT(error_of(store), HasSubstr("rank 1 was refused by rank 0 at 127.0.0.1"));
  EXPECT_GE(Clock::now() - started, std::chrono::milliseconds(kPortPatienceMs));
  EXPECT_LT(Clock::now() - started, std::chrono::seconds(30));
}

TEST(StoreConnect, another_size_is_refused_at_once) {
  auto zero = listen(loopback_options(0, 2, 0));
  const auto store = connect_store(loopback_options(1, 4, zero.port));
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().code(), Code::InvalidArgument);
  EXPECT_THAT(error_of(store),
              AllOf(HasSubstr("rank 1 was refused"), HasSubstr("rank 0 was started for 2 ranks, rank 1 for 4")));
}

TEST(StoreConnect, rank_0_says_whom_it_refused_when_it_has_waited_in_vain) {
  auto zero = listen(loopback_options(0, 2, 0));
  EXPECT_FALSE(connect_store(loopback_options(1, 4, zero.port)).has_value());
  EXPECT_THAT(zero.store->get("key", 50).status().to_string(),
              AllOf(HasSubstr("rank 1 has not connected after 0.05 s"),
                    HasSubstr("one that asked was refused: rank 0 was started for 2 ranks, rank 1 for 4")));
}

TEST(StoreConnect, a_second_process_of_a_rank_is_refused_with_both_processes) {
  auto zero = listen(loopback_options(0, 3, 0));
  RawClient first(zero.port);
  first.send(hello_frame("test job", 3, 1));
  ASSERT_EQ(first.receive()->type, FrameType::Welcome);
  first.send(Frame{.type = FrameType::Join});
  ASSERT_EQ(first.receive()->type, FrameType::Done);
  const auto second = connect_store(loopback_options(1, 3, zero.port));
  EXPECT_THAT(error_of(second),
              AllOf(HasSubstr("rank 1 is here already: process 1 elsewhere"), HasSubstr("(this is process ")));
}

TEST(StoreConnect, of_two_that_were_welcome_as_one_rank_the_second_to_join_is_refused) {
  auto zero = listen(loopback_options(0, 3, 0));
  RawClient first(zero.port);
  RawClient second(zero.port);
  for (RawClient* client : {&first, &second}) {
    client->send(hello_frame("test job", 3, 1));
    ASSERT_EQ(client->receive()->type, FrameType::Welcome);
  }
  first.send(Frame{.type = FrameType::Join});
  ASSERT_EQ(first.receive()->type, FrameType::Done);
  second.send(Frame{.type = FrameType::Join});
  ASSERT_EQ(second.receive()->type, FrameType::Refused);
}

TEST(StoreConnect, whoever_turns_away_before_joining_is_not_dead) {
  auto zero = listen(loopback_options(0, 2, 0));
  {
    RawClient impatient(zero.port);
    impatient.send(hello_frame("test job", 2, 1));
    ASSERT_EQ(impatient.receive()->type, FrameType::Welcome);
  }
  auto one = connect_store(loopback_options(1, 2, zero.port));
  ASSERT_TRUE(one.has_value()) << one.error().to_string();
  EXPECT_EQ(zero.store->get("never", 30).error().code(), Code::Timeout);
  (*one)->leave();
}

TEST(StoreConnect, a_dead_rank_cannot_come_back_under_the_same_job) {
  auto zero = listen(loopback_options(0, 3, 0));
  Notices notices;
  zero.store->listen(notices.listener());
  {
    RawClient victim(zero.port);
    victim.send(hello_frame("test job", 3, 1));
    ASSERT_EQ(victim.receive()->type, FrameType::Welcome);
    victim.send(Frame{.type = FrameType::Join});
    ASSERT_EQ(victim.receive()->type, FrameType::Done);
  }
  notices.wait_for_deaths(1);
  EXPECT_THAT(error_of(connect_store(loopback_options(1, 3, zero.port))),
              HasSubstr("rank 1 of job 'test job' has died"));
}

TEST(StoreConnect, a_second_rank_0_is_refused) {
  auto zero = listen(loopback_options(0, 2, 0));
  RawClient second(zero.port);
  second.send(hello_frame("test job", 2, 0));
  const auto answer = second.receive();
  ASSERT_TRUE(answer && answer->type == FrameType::Refused);
  EXPECT_THAT(answer->value, HasSubstr("two processes were started as rank 0"));
}

TEST(StoreConnect, another_version_is_told_both_versions) {
  auto zero = listen(loopback_options(0, 2, 0));
  RawClient client(zero.port);
  std::string bytes = encode(hello_frame("test job", 2, 1));
  bytes[4] = 9;
  client.send_bytes(bytes);
  const auto answer = client.receive();
  ASSERT_TRUE(answer && answer->type == FrameType::Refused);
  EXPECT_THAT(answer->value, AllOf(HasSubstr("version 9"), HasSubstr("version 1")));
}

TEST(StoreConnect, noise_gets_no_answer_and_does_no_harm) {
  auto zero = listen(loopback_options(0, 2, 0));
  std::vector<std::unique_ptr<RawClient>> strangers;
  for (const std::string_view noise : {"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01", "", "WEF"}) {
    strangers.push_back(std::make_unique<RawClient>(zero.port));
    if (!noise.empty()) strangers.back()->send_bytes(noise);
  }
  EXPECT_FALSE(strangers[0]->receive());
  EXPECT_FALSE(strangers[1]->receive());
  RawClient pushy(zero.port);  // a member's question without a hello
  pushy.send(Frame{.type = FrameType::Set, .key = "key", .value = "value"});
  EXPECT_FALSE(pushy.receive());
  RawClient long_winded(zero.port);
  Frame hello = hello_frame("test job", 2, 1);
  hello.value.resize(kMaxHelloBytes + 1);
  long_winded.send(hello);
  EXPECT_FALSE(long_winded.receive());

  auto one = connect_store(loopback_options(1, 2, zero.port));
  ASSERT_TRUE(one.has_value()) << one.error().to_string();
  (*one)->leave();
}

// Both ends of a connection are in this process, and its usual limit is 1024.
void allow_as_many_descriptors_as_the_system_does() {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

// Connections over which nothing is said; fewer after a failure.
std::vector<base::FileDescriptor> silent_strangers(int port, std::size_t count) {
  allow_as_many_descriptors_as_the_system_does();
  std::vector<base::FileDescriptor> strangers;
  while (strangers.size() < count) {
    auto socket = base::connect_to(loopback(port), base::Deadline::after_ms(kLongMs));
    if (!socket.has_value()) {
      ADD_FAILURE() << strangers.size() << ": " << socket.error().to_string();
      break;
    }
    strangers.push_back(std::move(*socket));
  }
  return strangers;
}

TEST(StoreConnect, a_thousand_strangers_keep_nobody_out) {
  auto zero = listen(loopback_options(0, 2, 0));
  const auto silent = silent_strangers(zero.port, 1000);
  ASSERT_EQ(silent.size(), 1000U);
  auto one = connect_store(loopback_options(1, 2, zero.port));
  ASSERT_TRUE(one.has_value()) << one.error().to_string();
  (*one)->leave();
}

TEST(StoreConnect, who_came_early_and_speaks_late_is_heard_among_more_strangers_than_are_served_at_a_time) {
  auto zero = listen(loopback_options(0, 2, 0));
  RawClient early(zero.port);
  constexpr std::size_t kStrangers = StoreServer::kMaxStrangers + 50;
  const auto silent = silent_strangers(zero.port, kStrangers);
  ASSERT_EQ(silent.size(), kStrangers);
  early.send(hello_frame("test job", 2, 1));
  const auto answer = early.receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->type, FrameType::Welcome);
}

TEST(StoreConnect, a_member_that_sends_nonsense_is_cut_off) {
  auto zero = listen(loopback_options(0, 3, 0));
  Notices notices;
  zero.store->listen(notices.listener());
  RawClient member(zero.port);
  member.send(hello_frame("test job", 3, 2));
  ASSERT_EQ(member.receive()->type, FrameType::Welcome);
  member.send(Frame{.type = FrameType::Join});
  ASSERT_EQ(member.receive()->type, FrameType::Done);
  member.send(Frame{.type = FrameType::Welcome});
  notices.wait_for_deaths(1);
  EXPECT_EQ(notices.deaths(), std::vector<int>{2});
  EXPECT_FALSE(member.receive());
}

// A service that accepts and says nothing, as torchrun's own store does.
TEST(StoreConnect, a_port_that_another_service_holds_is_skipped_by_both_sides) {
  auto service = base::listen_on(loopback(0));
  ASSERT_TRUE(service.has_value());
  const int taken = base::local_address(service->get())->port();
  Options options = loopback_options(0, 2, taken);
  options.port_tries = 16;
  const auto started = Clock::now();
  auto zero = listen(options);
  EXPECT_GT(zero.port, taken);
  options.rank = 1;
  auto one = connect_store(options);
  ASSERT_TRUE(one.has_value()) << one.error().to_string();
  EXPECT_LT(Clock::now() - started, std::chrono::seconds(5));
  (*one)->leave();
}

// A service whose backlog is full: it does not even take a connection.
TEST(StoreConnect, a_port_whose_holder_takes_no_connection_is_skipped_by_both_sides) {
  auto service = base::listen_on(loopback(0));
  ASSERT_TRUE(service.has_value());
  ASSERT_EQ(::listen(service->get(), 0), 0);
  const int taken = base::local_address(service->get())->port();
  std::vector<base::FileDescriptor> waiting;
  for (bool full = false; !full;) {
    auto socket = base::connect_to(loopback(taken), base::Deadline::after_ms(100));
    full = socket.status().code() == Code::Timeout;
    if (socket.has_value()) waiting.push_back(std::move(*socket));
    ASSERT_LT(waiting.size(), 100U);
  }
  Options options = loopback_options(0, 2, taken, 10'000);
  options.port_tries = 16;
  auto zero = listen(options);
  EXPECT_GT(zero.port, taken);
  options.rank = 1;
  const auto started = Clock::now();
  auto one = connect_store(options);
  ASSERT_TRUE(one.has_value()) << one.error().to_string();
  EXPECT_LT(Clock::now() - started, std::chrono::seconds(5));
  (*one)->leave();
}

TEST(StoreConnect, a_port_that_another_job_holds_is_skipped_by_both_sides) {
  Options other = loopback_options(0, 2, 0);
  other.job_id = "other job";
  auto other_zero = listen(other);
  Options options = loopback_options(0, 2, other_zero.port);
  options.port_tries = 16;
  auto zero = listen(options);
  EXPECT_GT(zero.port, other_zero.port);
  options.rank = 1;
  auto one = connect_store(options);
  ASSERT_TRUE(one.has_value()) << one.error().to_string();
  ASSERT_TRUE((*one)->set("key", "value").ok());
  EXPECT_EQ(zero.store->get("key", kLongMs).value(), "value");
  (*one)->leave();
}

TEST(StoreConnect, where_all_ports_are_taken_rank_0_says_so) {
  auto service = base::listen_on(loopback(0));
  ASSERT_TRUE(service.has_value());
  const int taken = base::local_address(service->get())->port();
  const auto zero = connect_store(loopback_options(0, 2, taken, 100));
  ASSERT_FALSE(zero.has_value());
  EXPECT_EQ(zero.error().code(), Code::ResourceExhausted);
  EXPECT_THAT(error_of(zero), HasSubstr("port " + std::to_string(taken) + " is taken by other programs"));
}

TEST(StoreConnect, a_port_that_becomes_free_meanwhile_is_taken) {
  auto service = base::listen_on(loopback(0));
  ASSERT_TRUE(service.has_value());
  const int port = base::local_address(service->get())->port();
  auto listening = std::async(std::launch::async, [&] { return connect_store(loopback_options(0, 2, port)); });
  ASSERT_EQ(listening.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  service->reset();
  EXPECT_TRUE(listening.get().has_value());
}

TEST(StoreConnect, once_all_have_come_the_port_is_free_for_the_next_store_of_the_same_process) {
  const int port = listen(loopback_options(0, 2, 0)).port;
  std::vector<std::unique_ptr<Store>> stores;
  for (int round = 0; round < 3; ++round) {
    auto joining = std::async(std::launch::async, [&] { return connect_store(loopback_options(1, 2, port)); });
    auto zero = connect_store(loopback_options(0, 2, port));
    ASSERT_TRUE(zero.has_value()) << zero.error().to_string();
    auto one = joining.get();
    ASSERT_TRUE(one.has_value()) << one.error().to_string();
    ASSERT_TRUE((*one)->set("round", std::to_string(round)).ok());
    EXPECT_EQ((*zero)->get("round", kLongMs).value(), std::to_string(round));
    stores.push_back(std::move(*zero));
    stores.push_back(std::move(*one));
  }
  for (auto& store : stores) store->leave();
}

TEST(StoreConnect, rank_0_waits_a_while_for_those_that_have_not_left) {
  auto zero = listen(loopback_options(0, 2, 0));
  auto one = connect_store(loopback_options(1, 2, zero.port));
  ASSERT_TRUE(one.has_value());
  Notices notices;
  (*one)->listen(notices.listener());
  auto ending = std::async(std::launch::async, [&] { zero.store.reset(); });
  ASSERT_EQ(ending.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  ASSERT_TRUE((*one)->set("still", "served").ok());
  (*one)->leave();
  ending.get();
  EXPECT_TRUE(notices.deaths().empty());
}

TEST(StoreConnect, after_rank_0_has_left_and_ended_calls_say_so_and_nobody_is_reported_dead) {
  auto zero = listen(loopback_options(0, 2, 0));
  auto one = connect_store(loopback_options(1, 2, zero.port));
  ASSERT_TRUE(one.has_value());
  Notices notices;
  (*one)->listen(notices.listener());
  const auto started = Clock::now();
  zero.store.reset();
  EXPECT_GE(Clock::now() - started, std::chrono::seconds(4));  // lingered
  const auto value = (*one)->get("key", kLongMs);
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().code(), Code::PeerLost);
  EXPECT_THAT(value.error().to_string(), HasSubstr("rank 0 has left"));
  EXPECT_TRUE(notices.deaths().empty());
}

TEST(StoreConnect, a_member_that_reads_nothing_is_given_up_before_it_fills_the_memory) {
  auto zero = listen(loopback_options(0, 2, 0));
  Notices notices;
  zero.store->listen(notices.listener());
  RawClient member(zero.port);
  member.send(hello_frame("test job", 2, 1));
  ASSERT_EQ(member.receive()->type, FrameType::Welcome);
  member.send(Frame{.type = FrameType::Join});
  ASSERT_EQ(member.receive()->type, FrameType::Done);
  const std::string message(kMaxValueBytes, 'm');
  for (int i = 0; i < 5 && notices.deaths().empty(); ++i) ASSERT_TRUE(zero.store->send(1, message).ok());
  notices.wait_for_deaths(1);
  EXPECT_EQ(notices.deaths(), std::vector<int>{1});
}

TEST(StoreConnect, messages_that_nobody_listens_to_end_in_an_error_not_in_all_the_memory) {
  auto zero = listen(loopback_options(0, 2, 0));
  auto one = connect_store(loopback_options(1, 2, zero.port));
  ASSERT_TRUE(one.has_value());
  const std::string message(std::size_t{8} << 20, 'm');
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(zero.store->send(1, message).ok());
  Result<std::string> value = (*one)->get("key", 20);
  for (int i = 0; i < 500 && value.status().code() == Code::Timeout; ++i) value = (*one)->get("key", 20);
  EXPECT_EQ(value.status().code(), Code::ResourceExhausted);
  EXPECT_THAT(value.status().to_string(), HasSubstr("call listen()"));
  zero.store->leave();
}

}  // namespace
}  // namespace weft::transports
