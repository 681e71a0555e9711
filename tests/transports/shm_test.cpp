// Shared memory between processes: who may join, who dies, and what is left behind.
#include "transports/shm.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <initializer_list>

#include "base/file_descriptor.hpp"
#include "tests/support/no_threads.hpp"
#include "tests/transports/support/harness.hpp"
#include "tests/transports/support/process.hpp"
#include "tests/transports/support/shm_ends.hpp"
#include "transports/segment.hpp"
#include "transports/shm_handshake.hpp"
#include "transports/shm_memory.hpp"

namespace weft::transports::testing {
namespace {

bool send_message(Endpoint& end, std::size_t bytes, std::uint32_t seed) {
  const auto data = pattern(bytes, seed);
  return eventually([&] { return end.send(data.data(), bytes, signature(seed)); });
}

using UseName = int (*)(int, const sockaddr*, socklen_t);  // bind or connect

base::FileDescriptor raw_socket(const std::string& abstract_name, UseName use) {
  base::FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path + 1, abstract_name.data(), abstract_name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + abstract_name.size());
  EXPECT_EQ(use(socket.get(), reinterpret_cast<const sockaddr*>(&name), bytes), 0) << std::strerror(errno);
  return socket;
}

// A raw connection to a listener, without the checks that ask() makes.
base::FileDescriptor stranger(const ShmAddress& address) { return raw_socket(address.socket, ::connect); }

ShmReply::Result answer_to(const base::FileDescriptor& socket, const ShmRequest& request) {
  EXPECT_EQ(::send(socket.get(), &request, sizeof(request), MSG_NOSIGNAL), static_cast<ssize_t>(sizeof(request)));
  ShmReply reply;
  EXPECT_EQ(::recv(socket.get(), &reply, sizeof(reply), 0), static_cast<ssize_t>(sizeof(reply)));
  return reply.result;
}

// A request that is none, and descriptors with it.
void send_descriptors(const base::FileDescriptor& socket, std::initializer_list<int> descriptors) {
  char noise = 'x';
  iovec vector{&noise, sizeof(noise)};
  alignas(cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
  cmsghdr* part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
  std::memcpy(CMSG_DATA(part), descriptors.begin(), descriptors.size() * sizeof(int));
  ASSERT_EQ(::sendmsg(socket.get(), &message, MSG_NOSIGNAL), 1) << std::strerror(errno);
}

// A rank that only sends, and has nothing else to do.
void send_and_end(std::unique_ptr<Transport> from, int self, int peer, const std::string& address) {
  std::unique_ptr<Connection> connection;
  auto end = open(*from, self, peer, address, 1, &connection);
  ASSERT_NE(end, nullptr);
  ASSERT_TRUE(send_message(*end, 1000, 1));
}

TEST(Shm, a_rank_that_made_the_memory_does_not_end_before_what_it_sent_was_fetched) {
  auto sender = transport();
  const auto receiver = transport();
  const std::string address = sender->address();
  auto ended = std::async(std::launch::async, [&] { send_and_end(std::move(sender), 0, 1, receiver->address()); });
  EXPECT_EQ(ended.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  std::unique_ptr<Connection> connection;
  const auto end = open(*receiver, 1, 0, address, 1, &connection);
  ASSERT_NE(end, nullptr);
  ended.get();
  EXPECT_TRUE(expect_message(*end, 1000, 1));
  EXPECT_TRUE(eventually([&] { return end->failure().code() == Code::PeerLost; }));
}

TEST(Shm, what_a_rank_sent_that_had_fetched_the_memory_and_ended_is_received) {
  auto sender = transport();
  const auto receiver = transport();
  const std::string address = sender->address();
  send_and_end(std::move(sender), 1, 0, receiver->address());
  std::unique_ptr<Connection> connection;
  const auto end = open(*receiver, 0, 1, address, 1, &connection);
  ASSERT_NE(end, nullptr);
  EXPECT_TRUE(expect_message(*end, 1000, 1));
  EXPECT_EQ(end->failure().code(), Code::PeerLost);
}

TEST(Shm, nobody_lingers_for_what_was_given_up) {
  auto sender =
      transport({.host_id = "", .slot_bytes = kDefaultSlotBytes, .reach_deadline_ms = 2000, .linger_ms = 600'000});
  const auto deaf = transport();
  auto ended = std::async(std::launch::async, [&] {
    std::unique_ptr<Connection> connection;
    auto end = open(*sender, 0, 1, deaf->address(), 1, &connection);
    ASSERT_NE(end, nullptr);
    ASSERT_TRUE(send_message(*end, 1000, 1));
    end->cancel(kDeadlineMs);
    end.reset();
    sender.reset();
  });
  EXPECT_EQ(ended.wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST(Shm, nobody_lingers_for_a_peer_that_has_ended_nor_for_ever) {
  const auto lingering = [](int linger_ms) {
    return transport(
        {.host_id = "", .slot_bytes = kDefaultSlotBytes, .reach_deadline_ms = 2000, .linger_ms = linger_ms});
  };
  auto sender = lingering(600'000);
  auto receiver = transport();
  const std::string address = receiver->address();
  auto ended = std::async(std::launch::async, [&] { send_and_end(std::move(sender), 0, 1, address); });
  ASSERT_EQ(ended.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  receiver.reset();
  EXPECT_EQ(ended.wait_for(std::chrono::seconds(60)), std::future_status::ready);

  const auto deaf = transport();
  auto brief = lingering(50);
  auto over = std::async(std::launch::async, [&] { send_and_end(std::move(brief), 0, 1, deaf->address()); });
  EXPECT_EQ(over.wait_for(std::chrono::seconds(8)), std::future_status::ready);
}

TEST(Shm, two_processes_exchange_messages_while_neither_waits_for_the_other) {
  for (const int parent_rank : {0, 1}) {
    Process child([&](Pipe& pipe) {
      auto own = transport();
      pipe.write(own->address());
      const std::string address = pipe.read();
      std::unique_ptr<Connection> connection;
      auto end = open(*own, 1 - parent_rank, parent_rank, address, 9, &connection);
      for (std::uint32_t i = 0; i < 2000; ++i) {
        const std::size_t bytes = i % 7 == 0 ? 60'000 : i % 50;
        EXPECT_TRUE(send_message(*end, bytes, i));
        EXPECT_TRUE(expect_message(*end, bytes, i + 1));
      }
      pipe.read();
      return 0;
    });
    const std::string address = child.pipe().read();
    auto own = transport();
    EXPECT_TRUE(own->reaches(address));
    child.pipe().write(own->address());
    std::unique_ptr<Connection> connection;
    auto end = open(*own, parent_rank, 1 - parent_rank, address, 9, &connection);
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const std::size_t bytes = i % 7 == 0 ? 60'000 : i % 50;
      ASSERT_TRUE(send_message(*end, bytes, i + 1)) << i;
      ASSERT_TRUE(expect_message(*end, bytes, i)) << i;
    }
    child.pipe().write("done");
    EXPECT_EQ(child.wait(), 0);
  }
}

TEST(Shm, a_peer_that_is_not_in_weft_at_the_moment_can_be_joined) {
  Process child([](Pipe& pipe) {
    auto own = transport();
    pipe.write(own->address());
    std::unique_ptr<Connection> connection;
    const std::string address = pipe.read();  // the parent has connected and sent by then
    auto end = open(*own, 0, 1, address, 9, &connection);
    EXPECT_TRUE(expect_message(*end, 100, 1));
    return 0;
  });
  const std::string address = child.pipe().read();
  auto own = transport();
  std::unique_ptr<Connection> connection;
  auto end = open(*own, 1, 0, address, 9, &connection);
  EXPECT_TRUE(send_message(*end, 100, 1));
  child.pipe().write(own->address());
  EXPECT_EQ(child.wait(), 0);
}

TEST(Shm, a_killed_peer_is_lost_within_a_second_even_if_its_child_lives_on) {
  for (const int parent_rank : {0, 1}) {
    Process child([&](Pipe& pipe) {
      auto own = transport();
      pipe.write(own->address());
      std::unique_ptr<Connection> connection;
      auto end = open(*own, 1 - parent_rank, parent_rank, pipe.read(), 9, &connection);
      EXPECT_TRUE(send_message(*end, 8, 1));
      const pid_t grandchild = ::fork();  // holds copies of all sockets
      if (grandchild == 0) {
        ::pause();
        std::_Exit(0);
      }
      pipe.write(std::to_string(grandchild));
      ::pause();
      return 0;
    });
    const std::string address = child.pipe().read();
    auto own = transport();
    child.pipe().write(own->address());
    std::unique_ptr<Connection> connection;
    auto end = open(*own, parent_rank, 1 - parent_rank, address, 9, &connection);
    const pid_t grandchild = std::stoi(child.pipe().read());
    EXPECT_TRUE(end->failure().ok());
    child.kill();
    // What it sent before is still delivered: failure() keeps quiet until it was taken.
    EXPECT_TRUE(expect_message(*end, 8, 1));
    EXPECT_TRUE(eventually([&] { return !end->failure().ok(); }, 1'000));
    EXPECT_EQ(end->failure().code(), Code::PeerLost);
    EXPECT_EQ(end->failure().peer(), 1 - parent_rank);
    EXPECT_EQ(child.wait(), -1);
    ::kill(grandchild, SIGKILL);
  }
}

TEST(Shm, the_first_word_on_a_killed_peer_is_that_its_process_has_ended) {
  for (int round = 0; round < 20; ++round) {
    Process child([](Pipe& pipe) {
      auto own = transport();
      pipe.write(own->address());
      ::pause();
      return 0;
    });
    auto own = transport();
    std::unique_ptr<Connection> connection;
    auto end = open(*own, 1, 0, child.pipe().read(), 9, &connection);
    child.kill();
    Status failure;
    ASSERT_TRUE(eventually([&] { return !(failure = end->failure()).ok(); }, 1'000));
    ASSERT_NE(failure.message().find("has ended"), std::string_view::npos) << failure.to_string();
  }
}

TEST(Shm, a_peer_killed_before_it_connected_is_told_by_connect) {
  Process child([](Pipe& pipe) {
    auto own = transport();
    pipe.write(own->address());
    ::pause();
    return 0;
  });
  const std::string address = child.pipe().read();
  auto own = transport();
  child.kill();
  child.wait();
  EXPECT_FALSE(own->reaches(address));
  for (const int rank : {0, 1}) {
    const auto connection = own->connect(rank, 1 - rank, address, kDeadlineMs);
    ASSERT_FALSE(connection.has_value());
    EXPECT_EQ(connection.error().code(), Code::PeerLost) << connection.error().to_string();
    EXPECT_EQ(connection.error().peer(), 1 - rank);
  }
}

TEST(Shm, a_peer_that_stopped_is_not_waited_for_longer_than_the_deadline) {
  Process child([](Pipe& pipe) {
    auto own = transport();
    pipe.write(own->address());
    ::pause();
    return 0;
  });
  const std::string address = child.pipe().read();
  ::kill(child.pid(), SIGSTOP);
  int state = 0;
  ASSERT_EQ(::waitpid(child.pid(), &state, WUNTRACED), child.pid());  // a signal takes effect a little later
  ASSERT_TRUE(WIFSTOPPED(state));
  auto own = transport();
  const auto connection = own->connect(1, 0, address, 100);
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code(), Code::Timeout) << connection.error().to_string();
}

TEST(Shm, four_processes_talk_all_to_all) {
  constexpr int kRanks = 4;
  std::vector<std::unique_ptr<Process>> processes;
  for (int rank = 0; rank < kRanks; ++rank) {
    processes.push_back(std::make_unique<Process>([rank](Pipe& pipe) {
      auto own = transport();
      pipe.write(own->address());
      std::vector<std::unique_ptr<Connection>> connections(kRanks);
      std::vector<std::unique_ptr<Endpoint>> ends(kRanks);
      for (int peer = 0; peer < kRanks; ++peer) {
        const std::string address = pipe.read();
        if (peer == rank) continue;
        EXPECT_TRUE(own->reaches(address));
        ends[static_cast<std::size_t>(peer)] =
            open(*own, rank, peer, address, 1, &connections[static_cast<std::size_t>(peer)]);
      }
      for (std::uint32_t i = 0; i < 300; ++i) {
        const std::size_t bytes = i % 2 == 0 ? 24 : 5000;
        for (int peer = 0; peer < kRanks; ++peer) {
          if (peer == rank) continue;
          EXPECT_TRUE(send_message(*ends[static_cast<std::size_t>(peer)], bytes, i));
        }
        for (int peer = 0; peer < kRanks; ++peer) {
          if (peer == rank) continue;
          EXPECT_TRUE(expect_message(*ends[static_cast<std::size_t>(peer)], bytes, i));
        }
      }
      pipe.write("done");
      pipe.read();
      return 0;
    }));
  }
  std::vector<std::string> addresses;
  for (const auto& process : processes) addresses.push_back(process->pipe().read());
  for (const auto& process : processes) {
    for (const std::string& address : addresses) process->pipe().write(address);
  }
  for (const auto& process : processes) EXPECT_EQ(process->pipe().read(), "done");
  for (const auto& process : processes) process->pipe().write("end");
  for (const auto& process : processes) EXPECT_EQ(process->wait(), 0);
}

TEST(Shm, different_host_ids_never_join) {
  auto here = transport({.host_id = "left"});
  auto there = transport({.host_id = "right\nwith a second line"});
  auto same = transport({.host_id = "left"});
  EXPECT_FALSE(here->reaches(there->address()));
  EXPECT_FALSE(there->reaches(here->address()));
  EXPECT_TRUE(here->reaches(same->address()));
  const auto connection = here->connect(0, 1, there->address(), kDeadlineMs);
  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code(), Code::InvalidArgument);
}

TEST(Shm, an_equal_host_id_does_not_join_another_machine) {
  auto here = transport({.host_id = "same"});
  ShmAddress elsewhere = *ShmAddress::parse(here->address());
  elsewhere.boot_id = "another kernel";
  EXPECT_FALSE(here->reaches(elsewhere.to_text()));
  EXPECT_FALSE(here->reaches("not an address"));
}

TEST(Shm, another_network_namespace_is_another_host) {
  Process child([](Pipe& pipe) {
    if (::unshare(CLONE_NEWNET) != 0) {
      pipe.write("");
      return 0;
    }
    auto own = transport();
    pipe.write(own->address());
    EXPECT_FALSE(own->reaches(pipe.read()));
    pipe.write("asked");
    pipe.read();
    return 0;
  });
  const std::string address = child.pipe().read();
  if (address.empty()) GTEST_SKIP() << "making a network namespace is not allowed here";
  auto own = transport();
  child.pipe().write(own->address());
  EXPECT_EQ(child.pipe().read(), "asked");
  EXPECT_FALSE(own->reaches(address));
  child.pipe().write("end");
  EXPECT_EQ(child.wait(), 0);
}

TEST(Shm, a_wrong_nonce_gets_no_memory) {
  auto own = transport();
  const ShmAddress address = *ShmAddress::parse(own->address());
  ShmRequest request{
      .kind = ShmRequest::Kind::Segment, .listener = random_nonce(), .requester_rank = 1, .listener_rank = 0};
  EXPECT_EQ(answer_to(stranger(address), request), ShmReply::Result::WrongNonce);
  auto other = transport();
  ShmAddress guessed = address;
  guessed.nonce = random_nonce();
  EXPECT_FALSE(other->reaches(guessed.to_text()));
  EXPECT_FALSE(other->connect(1, 0, guessed.to_text(), kDeadlineMs).has_value());
}

TEST(Shm, another_user_gets_no_memory) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Process child([](Pipe& pipe) {
    const ShmAddress address = *ShmAddress::parse(pipe.read());
    if (::seteuid(65534) != 0) return 3;
    ShmRequest request{.kind = ShmRequest::Kind::Probe, .listener = address.nonce};
    EXPECT_EQ(answer_to(stranger(address), request), ShmReply::Result::WrongUser);
    return 0;
  });
  auto own = transport();
  child.pipe().write(own->address());
  EXPECT_EQ(child.wait(), 0);
}

TEST(Shm, another_version_is_refused_with_a_clear_error) {
  auto own = transport();
  const ShmAddress address = *ShmAddress::parse(own->address());
  ShmRequest request{.version = ShmRequest::kVersion + 1, .listener = address.nonce};
  EXPECT_EQ(answer_to(stranger(address), request), ShmReply::Result::WrongVersion);

  const RingLayout layout;
  auto created = SharedMemory::create(Segment::bytes(layout));
  ASSERT_TRUE(created.has_value());
  SharedMemory& memory = created->memory;
  Segment::format(memory.data(), layout, random_nonce());
  EXPECT_TRUE(Segment::open(memory.data(), memory.bytes()).has_value());
  reinterpret_cast<SegmentHeader*>(memory.data())->version += 1;
  const auto opened = Segment::open(memory.data(), memory.bytes());
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code(), Code::Corrupt);
  EXPECT_NE(opened.error().message().find("version"), std::string_view::npos) << opened.error().message();
}

TEST(Shm, a_segment_that_lies_about_its_size_is_refused) {
  const RingLayout layout;
  auto created = SharedMemory::create(Segment::bytes(layout));
  ASSERT_TRUE(created.has_value());
  SharedMemory& memory = created->memory;
  for (const std::uint64_t slot_bytes :
       {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    Segment::format(memory.data(), layout, random_nonce());
    reinterpret_cast<SegmentHeader*>(memory.data())->slot_bytes = slot_bytes;
    EXPECT_FALSE(Segment::open(memory.data(), memory.bytes()).has_value()) << slot_bytes;
  }
  EXPECT_FALSE(Segment::open(memory.data(), 4096).has_value());
}

TEST(Shm, memory_that_could_shrink_is_refused) {
  base::FileDescriptor loose(::memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_TRUE(loose);
  ASSERT_EQ(::ftruncate(loose.get(), 4096), 0);
  const auto mapped = SharedMemory::map(loose);
  ASSERT_FALSE(mapped.has_value());
  EXPECT_EQ(mapped.error().code(), Code::Corrupt);
}

TEST(Shm, silent_or_babbling_strangers_do_not_keep_peers_out) {
  auto here = transport();
  const ShmAddress address = *ShmAddress::parse(here->address());
  std::vector<base::FileDescriptor> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(stranger(address));  // more than may wait at a time
  const base::FileDescriptor babbler = stranger(address);
  const std::string noise(10'000, 'x');
  ::send(babbler.get(), noise.data(), noise.size(), MSG_NOSIGNAL);
  auto there = transport({.host_id = {}, .reach_deadline_ms = kDeadlineMs});
  EXPECT_TRUE(there->reaches(here->address()));
  EXPECT_TRUE(there->connect(1, 0, here->address(), kDeadlineMs).has_value());
}

TEST(Shm, descriptors_that_a_stranger_sends_along_are_closed_however_many_they_are) {
  auto here = transport();
  const base::FileDescriptor sender = stranger(*ShmAddress::parse(here->address()));
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::FileDescriptor reading(ends[0]);
  {
    const base::FileDescriptor writing(ends[1]);
    send_descriptors(sender, {writing.get(), writing.get(), writing.get()});
  }
  pollfd polled{.fd = reading.get(), .events = 0, .revents = 0};  // hung up once nobody holds the writing end
  EXPECT_EQ(::poll(&polled, 1, kDeadlineMs), 1);
}

TEST(Shm, peers_that_come_all_at_once_and_ask_a_little_later_are_all_answered) {
  auto here = transport();
  const ShmAddress address = *ShmAddress::parse(here->address());
  std::vector<base::FileDescriptor> peers;
  for (int i = 0; i < 300; ++i) peers.push_back(stranger(address));
  const ShmRequest request{.listener = address.nonce};
  for (const auto& peer : peers) ASSERT_EQ(answer_to(peer, request), ShmReply::Result::Ok);
}

TEST(Shm, a_question_has_one_deadline_from_connecting_to_the_answer) {
  using Clock = std::chrono::steady_clock;
  ShmAddress address;
  address.socket = "weft-test-" + to_hex(random_nonce());
  const base::FileDescriptor listener = raw_socket(address.socket, ::bind);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  const base::FileDescriptor first = stranger(address);  // fills the backlog
  const auto started = Clock::now();
  auto asking = std::async(std::launch::async, [&] { return ask(address, {}, 1'000).status(); });
  ASSERT_EQ(asking.wait_for(std::chrono::milliseconds(700)), std::future_status::timeout);
  const base::FileDescriptor accepted(::accept(listener.get(), nullptr, nullptr));
  EXPECT_EQ(asking.get().code(), Code::Timeout);
  EXPECT_LT(Clock::now() - started, std::chrono::milliseconds(1'500));
}

TEST(Shm, without_a_thread_for_the_listener_there_is_no_transport_and_a_reason) {
  const test::NoMoreThreads no_more_threads;
  const auto made = make_shm_transport({});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code(), Code::ResourceExhausted) << made.error().to_string();
}

TEST(Shm, no_descriptor_is_left_behind_and_nothing_has_a_name) {
  const auto named = [] {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    int count = 0;
    while (std::getline(maps, line)) count += line.find("/dev/shm") != std::string::npos ? 1 : 0;
    return count;
  };
  const auto memory_files = [] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;  // the iterator's own descriptor
      const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
      count += target.find("memfd:weft") != std::string::npos ? 1 : 0;
    }
    return count;
  };
  const int named_before = named();
  const int before = open_descriptors();
  for (int round = 0; round < 20; ++round) {
    auto here = transport();
    auto there = transport();
    std::unique_ptr<Connection> connection0;
    std::unique_ptr<Connection> connection1;
    auto end0 = open(*here, 0, 1, there->address(), 1, &connection0);
    auto end1 = open(*there, 1, 0, here->address(), 1, &connection1);
    EXPECT_TRUE(send_message(*end0, 50'000, 1));
    EXPECT_TRUE(expect_message(*end1, 50'000, 1));
    // The page for probes of each, and its slots for several peers; the pair's memory is mapped and its descriptor
    // closed.
    EXPECT_TRUE(eventually([&] { return memory_files() == 4; })) << memory_files();
    EXPECT_EQ(named(), named_before);
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace weft::transports::testing
