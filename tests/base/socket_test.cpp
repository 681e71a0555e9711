// Addresses, connecting with a deadline, and what becomes of guarded descriptors in a forked child.
#include "base/socket.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fork_guard.hpp"

namespace weft::base {
namespace {

using ::testing::HasSubstr;

SocketAddress numeric(const std::string& host, int port) { return resolve(host, port).value().front(); }

TEST(Socket, addresses_print_as_they_are_written) {
  EXPECT_EQ(numeric("127.0.0.1", 80).to_string(), "127.0.0.1:80");
  EXPECT_EQ(numeric("::1", 80).to_string(), "[::1]:80");
  EXPECT_EQ(numeric("::1", 80).with_port(81).port(), 81);
  EXPECT_TRUE(numeric("127.3.2.1", 1).loopback());
  EXPECT_TRUE(numeric("::1", 1).loopback());
  EXPECT_FALSE(numeric("192.0.2.1", 1).loopback());
}

TEST(Socket, a_name_that_does_not_exist_is_named) {
  const auto addresses = resolve("no-such-host.invalid", 1);
  EXPECT_EQ(addresses.status().code(), Code::NotFound);
  EXPECT_THAT(addresses.status().to_string(), HasSubstr("no-such-host.invalid"));
}

TEST(Socket, a_listener_is_reached_and_a_free_port_refuses) {
  auto listener = listen_on(numeric("127.0.0.1", 0));
  ASSERT_TRUE(listener.has_value()) << listener.error().to_string();
  const auto address = local_address(listener->get()).value();
  EXPECT_TRUE(connect_to(address, Deadline::after_ms(5000)).has_value());
  EXPECT_EQ(listen_on(address).status().code(), Code::ResourceExhausted);
  listener->reset();
  EXPECT_EQ(connect_to(address, Deadline::after_ms(5000)).status().code(), Code::PeerLost);
}

TEST(Socket, listening_on_any_address_serves_ipv4) {
  auto listener = listen_on(any_address());
  ASSERT_TRUE(listener.has_value()) << listener.error().to_string();
  const int port = local_address(listener->get())->port();
  EXPECT_TRUE(connect_to(numeric("127.0.0.1", port), Deadline::after_ms(5000)).has_value());
}

TEST(Socket, a_socket_that_met_itself_is_told_from_one_that_met_another) {
  FileDescriptor lonely(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  SocketAddress address = numeric("127.0.0.1", 0);
  ASSERT_EQ(::bind(lonely.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length), 0);
  address = local_address(lonely.get()).value();
  ASSERT_EQ(::connect(lonely.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length), 0);
  EXPECT_TRUE(connected_to_itself(lonely.get()));

  auto listener = listen_on(numeric("127.0.0.1", 0));
  auto socket = connect_to(local_address(listener->get()).value(), Deadline::after_ms(5000));
  ASSERT_TRUE(socket.has_value());
  EXPECT_FALSE(connected_to_itself(socket->get()));
}

TEST(Socket, a_tuned_connection_notices_a_dead_host) {
  auto listener = listen_on(numeric("127.0.0.1", 0));
  auto socket = connect_to(local_address(listener->get()).value(), Deadline::after_ms(5000));
  ASSERT_TRUE(socket.has_value());
  tune_connection(socket->get());
  const auto option = [&](int level, int name) {
    int value = 0;
    socklen_t length = sizeof value;
    EXPECT_EQ(::getsockopt(socket->get(), level, name, &value, &length), 0);
    return value;
  };
  EXPECT_NE(option(SOL_SOCKET, SO_KEEPALIVE), 0);
  EXPECT_NE(option(IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 30'000);
  EXPECT_LE(option(IPPROTO_TCP, TCP_KEEPIDLE) + option(IPPROTO_TCP, TCP_KEEPCNT) * option(IPPROTO_TCP, TCP_KEEPINTVL),
            30);
}

TEST(Socket, loopback_is_among_the_interfaces) {
  bool found = false;
  for (const auto& entry : interface_addresses())
    found = found || (entry.interface == "lo" && entry.address.host() == "127.0.0.1");
  EXPECT_TRUE(found);
}

TEST(Socket, several_interfaces_are_named_with_commas) {
  EXPECT_EQ(interface_names(""), std::vector<std::string>());
  EXPECT_EQ(interface_names("eth0"), std::vector<std::string>{"eth0"});
  EXPECT_EQ(interface_names("eth0,eth1"), (std::vector<std::string>{"eth0", "eth1"}));
}

TEST(Socket, interfaces_that_are_not_there_or_named_twice_or_too_many_are_refused_by_name) {
  EXPECT_TRUE(check_interfaces("").ok());
  EXPECT_TRUE(check_interfaces("lo").ok());
  EXPECT_THAT(check_interfaces("nowhere0").to_string(),
              HasSubstr("WEFT_INTERFACE=nowhere0: there is no such network interface; there are "));
  EXPECT_THAT(check_interfaces("lo,nowhere0").to_string(),
              HasSubstr("WEFT_INTERFACE=lo,nowhere0: there is no network interface 'nowhere0'; there are "));
  EXPECT_THAT(check_interfaces("lo,").to_string(), HasSubstr("there is no network interface ''"));
  EXPECT_THAT(check_interfaces("lo,lo").to_string(), HasSubstr("WEFT_INTERFACE=lo,lo: 'lo' is named twice"));
  EXPECT_THAT(check_interfaces("a,b,c,d,e").to_string(), HasSubstr("these are 5 network interfaces; give at most 4"));
}

TEST(ForkGuard, a_guarded_socket_is_not_open_in_a_child_but_its_number_is_taken) {
  auto guarded = listen_on(numeric("127.0.0.1", 0));
  auto plain = listen_on(numeric("127.0.0.1", 0));
  ASSERT_TRUE(guarded.has_value() && plain.has_value());
  const ForkGuard guard(guarded->get());
  const auto listens = [](int descriptor) {
    int value = 0;
    socklen_t length = sizeof value;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 && value != 0;
  };
  const pid_t child = ::fork();
  if (child == 0) {
    const bool right =
        !listens(guarded->get()) && ::fcntl(guarded->get(), F_GETFD) == FD_CLOEXEC && listens(plain->get());
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(listens(guarded->get()));
}

}  // namespace
}  // namespace weft::base
