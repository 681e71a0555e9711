// One stream of bytes over loopback: it is timed, and whoever waits for it ends by the deadline.
#include "topology/measure/tcp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/socket.hpp"

namespace weft::topology {
namespace {

using testing::HasSubstr;

constexpr int kPatienceMs = 10'000;

TcpMeetingPoint on_loopback(const TcpReceiver& receiver) {
  TcpMeetingPoint point = receiver.point();
  point.addresses = {"127.0.0.1"};
  return point;
}

// While it lives, no file can be opened. (A descriptor that is closed may be opened again.)
class NoMoreFiles {
 public:
  NoMoreFiles() {
    ::getrlimit(RLIMIT_NOFILE, &old_);
    const int next = ::dup(0);
    ::close(next);
    rlimit none = old_;
    none.rlim_cur = static_cast<rlim_t>(next);
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &old_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit old_{};
};

TEST(TcpStream, is_timed_where_it_arrives) {
  Result<TcpReceiver> receiver = TcpReceiver::create();
  ASSERT_TRUE(receiver) << receiver.status().to_string();
  const TcpMeetingPoint point = on_loopback(*receiver);
  std::jthread sender([&] { (void)send_tcp(point, 50, base::Deadline::after_ms(kPatienceMs)); });
  const Result<double> gbs = receiver->receive(base::Deadline::after_ms(kPatienceMs));
  ASSERT_TRUE(gbs) << gbs.status().to_string();
  EXPECT_GT(*gbs, 0);
}

TEST(TcpStream, that_never_ends_is_left_at_the_deadline) {
  Result<TcpReceiver> receiver = TcpReceiver::create();
  ASSERT_TRUE(receiver);
  const TcpMeetingPoint point = on_loopback(*receiver);
  const auto start = std::chrono::steady_clock::now();
  std::jthread sender([&] { (void)send_tcp(point, kPatienceMs, base::Deadline::after_ms(kPatienceMs)); });
  const Result<double> gbs = receiver->receive(base::Deadline::after_ms(300));
  ASSERT_FALSE(gbs);
  EXPECT_EQ(gbs.error().code(), Code::Timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(kPatienceMs / 2));
}

TEST(TcpStream, cannot_be_accepted_without_files_and_says_so) {
  Result<TcpReceiver> receiver = TcpReceiver::create();
  ASSERT_TRUE(receiver);
  const auto address = base::resolve("127.0.0.1", receiver->point().port);
  ASSERT_TRUE(address);
  const auto guest = base::connect_to(address->front(), base::Deadline::after_ms(kPatienceMs));
  ASSERT_TRUE(guest);
  Result<double> gbs = Status(Code::Internal, "nothing was received");
  {
    const NoMoreFiles none;
    gbs = receiver->receive(base::Deadline::after_ms(200));
  }
  ASSERT_FALSE(gbs);
  EXPECT_EQ(gbs.error().code(), Code::SystemError);
  EXPECT_THAT(gbs.error().message(), HasSubstr("accept"));
}

TEST(TcpStream, names_who_did_not_answer) {
  Result<TcpReceiver> receiver = TcpReceiver::create();
  ASSERT_TRUE(receiver);
  TcpMeetingPoint point = on_loopback(*receiver);
  point.word ^= 1;
  std::jthread other([&] { (void)receiver->receive(base::Deadline::after_ms(1'000)); });
  const Status unknown = send_tcp(point, 10, base::Deadline::after_ms(kPatienceMs));
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.code(), Code::NotFound) << unknown.message();
  EXPECT_THAT(unknown.message(), HasSubstr("127.0.0.1"));
  other.join();
  point.addresses = {"no such address"};
  const Status unresolved = send_tcp(point, 10, base::Deadline::after_ms(kPatienceMs));
  EXPECT_THAT(unresolved.message(), HasSubstr("no such address"));
}

TEST(MeetingPoint, is_read_whole_or_not_at_all) {
  const TcpMeetingPoint point{{"10.0.0.1", "fd00::1"}, 40123, 18'446'744'073'709'551'615U};
  const Result<TcpMeetingPoint> again = parse_meeting_point(to_text(point));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, point);
  for (const char* wrong : {"", "10.0.0.1 40123", "10.0.0.1 0 1", "10.0.0.1 40123 ", "10.0.0.1 40123 word",
                            "10.0.0.1 40123 1x", "10.0.0.1 40123 18446744073709551616", "10.0.0.1 40123 -1"})
    EXPECT_FALSE(parse_meeting_point(wrong)) << wrong;
}

}  // namespace
}  // namespace weft::topology
