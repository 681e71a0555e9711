// The log: which lines are written, how they read, and that threads do not mix them.
#include "base/log.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>
#include <vector>

namespace weft::base {
namespace {

TEST(Log, a_line_names_weft_the_rank_and_the_level) {
  std::ostringstream out;
  const Logger logger(3, LogLevel::Debug, out);
  logger.warning("link {} is at {} %", "nic0", 12);
  logger.debug("d");
  logger.info("i");
  logger.error("e {{}}");
  EXPECT_EQ(out.str(),
            "weft[3]: warning: link nic0 is at 12 %\n"
            "weft[3]: debug: d\n"
            "weft[3]: info: i\n"
            "weft[3]: error: e {}\n");
}

TEST(Log, without_a_rank_there_is_none_in_the_line) {
  std::ostringstream out;
  Logger(-1, LogLevel::Warning, out).warning("x");
  EXPECT_EQ(out.str(), "weft: warning: x\n");
}

TEST(Log, what_is_below_the_level_is_not_written_nor_formatted) {
  std::ostringstream out;
  const Logger logger(0, LogLevel::Warning, out);
  logger.debug("d");
  logger.info("i");
  logger.warning("w");
  EXPECT_EQ(out.str(), "weft[0]: warning: w\n");
  EXPECT_FALSE(logger.enabled(LogLevel::Info));
  EXPECT_TRUE(logger.enabled(LogLevel::Error));
}

TEST(Log, off_is_silent) {
  std::ostringstream out;
  const Logger logger(0, LogLevel::Off, out);
  logger.error("e");
  EXPECT_EQ(out.str(), "");
  EXPECT_FALSE(logger.enabled(LogLevel::Error));
}

TEST(Log, text_with_percent_signs_and_braces_is_written_as_it_is) {
  std::ostringstream out;
  Logger(0, LogLevel::Info, out).info("{}", "%v {} %l");
  EXPECT_EQ(out.str(), "weft[0]: info: %v {} %l\n");
}

TEST(Log, standard_error_is_where_lines_go_by_default) {
  testing::internal::CaptureStderr();
  Logger(1, LogLevel::Info).info("hello");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "weft[1]: info: hello\n");
}

TEST(Log, lines_of_several_threads_do_not_mix) {
  std::ostringstream out;
  const Logger logger(0, LogLevel::Info, out);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) logger.info("{}", std::string(50, 'x'));
    });
  }
  for (auto& thread : threads) thread.join();
  std::istringstream lines(out.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) ASSERT_EQ(line, "weft[0]: info: " + std::string(50, 'x'));
  EXPECT_EQ(count, 400);
}

TEST(Log, levels_have_names) {
  EXPECT_EQ(parse_log_level("debug"), LogLevel::Debug);
  EXPECT_EQ(parse_log_level("warn"), LogLevel::Warning);
  EXPECT_EQ(parse_log_level("warning"), LogLevel::Warning);
  EXPECT_EQ(parse_log_level("off"), LogLevel::Off);
  EXPECT_EQ(parse_log_level("loud"), std::nullopt);
  EXPECT_EQ(parse_log_level(""), std::nullopt);
}

}  // namespace
}  // namespace weft::base
