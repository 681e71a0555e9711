// Rank 0's address by way of PMI-1, against a launcher of our own on a socket pair.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <future>
#include <thread>

#include "base/file_descriptor.hpp"
#include "base/launch/launch.hpp"
#include "base/socket.hpp"

namespace weft::base {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kLongMs = 20'000;

// One connection of a process to the launcher, seen from the launcher.
class Peer {
 public:
  explicit Peer(FileDescriptor socket) : socket_(std::move(socket)) {}

  // Empty: the process closed its end.
  std::string receive() {
    std::string line;
    for (char c = 0;;) {
      pollfd waiting{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, kLongMs) <= 0) return "nothing came";
      const ssize_t got = ::read(socket_.get(), &c, 1);
      if (got < 0 && errno == EAGAIN) continue;
      if (got <= 0) return line;
      if (c == '\n') break;
      line.push_back(c);
    }
    heard_.push_back(line);
    return line;
  }
  void send(std::string_view line) {
    const std::string text = fmt::format("{}\n", line);
    EXPECT_EQ(::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  void answer(std::string_view line) {
    receive();
    send(line);
  }
  const std::vector<std::string>& heard() const { return heard_; }

 private:
  FileDescriptor socket_;
  std::vector<std::string> heard_;
};

struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    process = FileDescriptor(ends[0]);
    launcher = FileDescriptor(ends[1]);
  }
  FileDescriptor process;
  FileDescriptor launcher;
};

Environment with_descriptor(const FileDescriptor& descriptor) {
  return Environment(Environment::Variables{{"PMI_FD", std::to_string(descriptor.get())}});
}

Result<std::string> exchange(const Environment& environment, int rank, int timeout_ms = kLongMs) {
  return exchange_by_pmi({.environment = environment,
                          .rank = rank,
                          .size = 2,
                          .offer = rank == 0 ? "10.0.0.1;40000;cafe" : "",
                          .deadline = Deadline::after_ms(timeout_ms)});
}

void greet(Peer& peer) {
  peer.answer("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
  peer.answer("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024");
  peer.answer("cmd=my_kvsname kvsname=kvs_7_0");
}

TEST(Pmi, rank_0_puts_its_offer_and_all_get_it) {
  Pair zero;
  Pair one;
  std::thread launcher([&] {
    Peer peer_0(std::move(zero.launcher));
    Peer peer_1(std::move(one.launcher));
    greet(peer_0);
    greet(peer_1);
    peer_0.answer("cmd=put_result rc=0 msg=success");
    peer_0.receive();  // both are in the barrier before any is let out
    peer_1.receive();
    for (Peer* peer : {&peer_0, &peer_1}) {
      peer->send("cmd=barrier_out");
      peer->answer("cmd=get_result rc=0 msg=success value=10.0.0.1;40000;cafe");
      peer->answer("cmd=finalize_ack");
    }
    EXPECT_THAT(peer_0.heard(),
                ElementsAre("cmd=init pmi_version=1 pmi_subversion=1", "cmd=get_maxes", "cmd=get_my_kvsname",
                            "cmd=put kvsname=kvs_7_0 key=weft-rendezvous value=10.0.0.1;40000;cafe", "cmd=barrier_in",
                            "cmd=get kvsname=kvs_7_0 key=weft-rendezvous", "cmd=finalize"));
    EXPECT_THAT(peer_1.heard(),
                ElementsAre("cmd=init pmi_version=1 pmi_subversion=1", "cmd=get_maxes", "cmd=get_my_kvsname",
                            "cmd=barrier_in", "cmd=get kvsname=kvs_7_0 key=weft-rendezvous", "cmd=finalize"));
  });
  auto other = std::async(std::launch::async, [&] { return exchange(with_descriptor(one.process), 1); });
  EXPECT_EQ(exchange(with_descriptor(zero.process), 0).value(), "10.0.0.1;40000;cafe");
  EXPECT_EQ(other.get().value(), "10.0.0.1;40000;cafe");
  launcher.join();
}

TEST(Pmi, a_launcher_that_listens_on_a_port_is_told_who_calls) {
  auto listener = listen_on(resolve("127.0.0.1", 0)->front());
  ASSERT_TRUE(listener.has_value());
  const int port = local_address(listener->get())->port();
  std::thread launcher([&] {
    pollfd waiting{.fd = listener->get(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&waiting, 1, kLongMs), 1);
    Peer peer(FileDescriptor(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC)));
    peer.answer("cmd=initack rc=0");
    peer.send("cmd=set size=2");
    peer.send("cmd=set rank=1");
    peer.send("cmd=set debug=0");
    greet(peer);
    peer.answer("cmd=barrier_out");
    peer.answer("cmd=get_result rc=0 msg=success value=offer");
    peer.answer("cmd=finalize_ack");
    EXPECT_EQ(peer.heard().front(), "cmd=initack pmiid=5");
  });
  const Environment environment(
      Environment::Variables{{"PMI_PORT", fmt::format("127.0.0.1:{}", port)}, {"PMI_ID", "5"}});
  EXPECT_EQ(exchange(environment, 1).value(), "offer");
  launcher.join();
}

TEST(Pmi, an_error_of_the_launcher_is_repeated) {
  Pair pair;
  std::thread launcher([&] {
    Peer peer(std::move(pair.launcher));
    greet(peer);
    peer.answer("cmd=put_result rc=-1 msg=duplicate_key");
  });
  const auto result = exchange(with_descriptor(pair.process), 0);
  EXPECT_EQ(result.status().code(), Code::Corrupt);
  EXPECT_THAT(result.status().to_string(), HasSubstr("cmd=put_result rc=-1 msg=duplicate_key"));
  launcher.join();
}

TEST(Pmi, a_launcher_that_ends_is_an_error) {
  Pair pair;
  pair.launcher.reset();
  EXPECT_EQ(exchange(with_descriptor(pair.process), 0).status().ok(), false);
}

TEST(Pmi, a_launcher_that_says_nothing_is_a_timeout) {
  Pair pair;
  const auto result = exchange(with_descriptor(pair.process), 0, 50);
  EXPECT_EQ(result.status().code(), Code::Timeout);
}

TEST(Pmi, an_endless_line_is_refused) {
  Pair pair;
  std::thread launcher([&] {
    Peer peer(std::move(pair.launcher));
    peer.receive();
    peer.send(std::string(8000, 'x'));
    peer.receive();  // until the process ends the connection
  });
  EXPECT_EQ(exchange(with_descriptor(pair.process), 0).status().code(), Code::Corrupt);
  pair.process.reset();
  launcher.join();
}

TEST(Pmi, what_is_missing_or_wrong_in_the_environment_is_named) {
  const auto refusal = [](Environment::Variables variables) {
    return exchange(Environment(std::move(variables)), 0).status().to_string();
  };
  EXPECT_THAT(refusal({}), HasSubstr("neither PMI_FD nor PMI_PORT"));
  EXPECT_THAT(refusal({{"PMI_FD", "x"}}), HasSubstr("PMI_FD=x"));
  EXPECT_THAT(refusal({{"PMI_FD", "-1"}}), HasSubstr("PMI_FD=-1"));
  EXPECT_THAT(refusal({{"PMI_PORT", "x"}, {"PMI_ID", "0"}}), HasSubstr("PMI_PORT=x"));
  EXPECT_THAT(refusal({{"PMI_PORT", "h:1"}}), HasSubstr("PMI_ID"));
}

TEST(Pmix, without_mpirun_there_is_none) {
  const auto result = exchange_by_pmix({.environment = Environment(Environment::Variables{}),
                                        .rank = 0,
                                        .size = 2,
                                        .offer = "x",
                                        .deadline = Deadline::after_ms(10)});
  EXPECT_EQ(result.status().code(), Code::InvalidArgument);
  EXPECT_THAT(result.status().to_string(), HasSubstr("PMIX_NAMESPACE is not set"));
}

}  // namespace
}  // namespace weft::base
