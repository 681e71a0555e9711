// Long messages that are read from the sender's memory, and processes that may not do so.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/transports/support/harness.hpp"
#include "tests/transports/support/process.hpp"
#include "tests/transports/support/shm_ends.hpp"

namespace weft::transports::testing {
namespace {

// The first long message of a size takes a slot, the second is read, until what both cost is known.
TEST(SingleCopy, a_long_message_may_be_read_where_it_is_and_is_done_when_it_was_given_back) {
  std::vector<std::string> notes;
  const auto note = [&](const std::string& text) { notes.push_back(text); };
  const auto here = transport({.host_id = {}, .note = note});
  const auto there = transport({.host_id = {}, .note = note});
  std::unique_ptr<Connection> connections[2];
  const auto sender = open(*here, 0, 1, there->address(), 1, &connections[0]);
  const auto receiver = open(*there, 1, 0, here->address(), 1, &connections[1]);
  EXPECT_TRUE(notes.empty()) << notes.front();
  const auto first = pattern(40'000, 1);
  auto second = pattern(60'000, 2);
  ASSERT_TRUE(sender->send(first.data(), first.size(), signature(1)));
  EXPECT_EQ(sender->sends_done(), 1U);
  ASSERT_TRUE(sender->send(second.data(), second.size(), signature(2)));
  EXPECT_EQ(sender->sends_done(), 1U);
  EXPECT_TRUE(expect_message(*receiver, first.size(), 1));
  EXPECT_EQ(sender->sends_done(), 1U);
  EXPECT_TRUE(expect_message(*receiver, second.size(), 2));
  EXPECT_EQ(sender->sends_done(), 2U);
}

// After an error the sender's buffers are its own again, and the peer may not have heard of it.
TEST(SingleCopy, a_message_whose_sender_has_given_up_is_not_received) {
  const auto here = transport({});
  const auto there = transport({});
  std::unique_ptr<Connection> connections[2];
  const auto sender = open(*here, 0, 1, there->address(), 1, &connections[0]);
  const auto receiver = open(*there, 1, 0, here->address(), 1, &connections[1]);
  const auto first = pattern(50'000, 1);
  auto second = pattern(50'000, 2);
  ASSERT_TRUE(sender->send(first.data(), first.size(), signature(1)));
  ASSERT_TRUE(sender->send(second.data(), second.size(), signature(2)));
  ASSERT_EQ(sender->sends_done(), 1U);
  sender->cancel(1000);
  second.assign(second.size(), std::byte{0});
  EXPECT_TRUE(expect_message(*receiver, first.size(), 1));
  std::vector<std::byte> landing(second.size());
  EXPECT_EQ(receiver->receive(landing.size(), landing.data(), signature(2)), nullptr);
  EXPECT_FALSE(receiver->failure().ok());
}

TEST(SingleCopy, long_messages_arrive_whole_whichever_way_they_take) {
  const auto here = transport({});
  const auto there = transport({});
  std::unique_ptr<Connection> connections[2];
  const auto sender = open(*here, 0, 1, there->address(), 1, &connections[0]);
  const auto receiver = open(*there, 1, 0, here->address(), 1, &connections[1]);
  for (std::uint32_t message = 0; message < 500; ++message) {
    const auto data = pattern(16'000 + message * 97, message);
    ASSERT_TRUE(sender->send(data.data(), data.size(), signature(message)));
    ASSERT_TRUE(expect_message(*receiver, data.size(), message)) << message;
    EXPECT_EQ(sender->sends_done(), message + 1);
  }
}

// What a process tells whose peer is another one: neither is root, and both may be read, or not.
std::string note_of_readers(bool dumpable) {
  const auto become = [dumpable] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return false;
    return ::prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0) == 0;
  };
  const auto rank = [&](int self, Pipe& pipe) {
    if (!become()) return 3;
    std::string notes;
    const auto own = transport({.host_id = {}, .note = [&](const std::string& text) { notes += text; }});
    pipe.write(own->address());
    const std::string address = pipe.read();
    std::unique_ptr<Connection> connection;
    const auto end = open(*own, self, 1 - self, address, 9, &connection);
    for (std::uint32_t i = 0; i < 100; ++i) {
      const auto data = pattern(50'000, i);
      EXPECT_TRUE(eventually([&] { return end->send(data.data(), data.size(), signature(i)); }));
      EXPECT_TRUE(expect_message(*end, data.size(), i));
      EXPECT_TRUE(eventually([&] { return end->sends_done() == i + 1; }));
    }
    pipe.write(notes);
    pipe.read();
    return 0;
  };
  Process lower([&](Pipe& pipe) { return rank(0, pipe); });
  Process higher([&](Pipe& pipe) { return rank(1, pipe); });
  const std::string address = lower.pipe().read();
  lower.pipe().write(higher.pipe().read());
  higher.pipe().write(address);
  std::string notes = lower.pipe().read() + higher.pipe().read();
  for (Process* process : {&lower, &higher}) {
    process->pipe().write("done");
    EXPECT_EQ(process->wait(), 0);
  }
  return notes;
}

TEST(SingleCopy, processes_that_may_not_read_each_other_say_why_and_use_slots) {
  EXPECT_EQ(note_of_readers(true), "");
  const std::string notes = note_of_readers(false);
  EXPECT_NE(notes.find("long messages of rank 1 go through slots: the memory of process "), std::string::npos) << notes;
  EXPECT_NE(notes.find("long messages of rank 0 go through slots"), std::string::npos) << notes;
  EXPECT_NE(notes.find("cannot be read (Operation not permitted)"), std::string::npos) << notes;
}

TEST(SingleCopy, what_lies_in_a_process_that_has_ended_is_no_message_that_could_still_be_received) {
  Process sender([](Pipe& pipe) {
    const auto own = transport({});
    pipe.write(own->address());
    std::unique_ptr<Connection> connection;
    const auto end = open(*own, 0, 1, pipe.read(), 9, &connection);
    const auto data = pattern(50'000, 1);
    for (int message = 0; message < 2; ++message)  // in a slot, and where it is
      if (!end->send(data.data(), data.size(), signature(1))) return 3;
    const bool lent = end->sends_done() == 1;
    pipe.write(lent ? "sent" : "was not lent");
    pipe.read();
    std::_Exit(0);
  });
  const auto own = transport({});
  std::unique_ptr<Connection> connection;
  const auto end = open(*own, 1, 0, sender.pipe().read(), 9, &connection);
  sender.pipe().write(own->address());
  ASSERT_EQ(sender.pipe().read(), "sent");
  EXPECT_TRUE(expect_message(*end, 50'000, 1));
  sender.pipe().write("end");
  EXPECT_EQ(sender.wait(), 0);
  std::vector<std::byte> landing(50'000);
  EXPECT_EQ(end->receive(landing.size(), landing.data(), signature(1)), nullptr);
  EXPECT_TRUE(eventually([&] { return end->failure().code() == Code::PeerLost; })) << end->failure().to_string();
}

TEST(SingleCopy, what_is_to_be_reduced_is_not_read) {
  const auto here = transport({});
  const auto there = transport({});
  std::unique_ptr<Connection> connections[2];
  const auto sender = open(*here, 0, 1, there->address(), 1, &connections[0]);
  const auto receiver = open(*there, 1, 0, here->address(), 1, &connections[1]);
  sender->set_traffic(Traffic::Reduced);
  const auto data = pattern(50'000, 1);
  for (std::uint64_t message = 0; message < 40; ++message) {
    ASSERT_TRUE(sender->send(data.data(), data.size(), signature(1)));
    EXPECT_EQ(sender->sends_done(), message + 1);
    EXPECT_TRUE(expect_message(*receiver, data.size(), 1));
  }
}

}  // namespace
}  // namespace weft::transports::testing
