// Logger: lines for people on standard error, "weft[3]: warning: ...". A resource that its owner passes on by
// reference; what an error says belongs into its Status, not here.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "weft/options.hpp"

namespace weft::base {

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error, Off };

// "debug", "info", "warn" (or "warning"), "error", "off".
std::optional<LogLevel> parse_log_level(std::string_view name);

// Any thread may log.
class Logger {
 public:
  // Rank -1: not known yet, "weft: ...".
  Logger(int rank, LogLevel level);
  Logger(int rank, LogLevel level, std::ostream& out);  // which must outlive it
  Logger(Logger&&) noexcept;
  Logger& operator=(Logger&&) noexcept;
  ~Logger();

  bool enabled(LogLevel level) const { return level >= level_ && level != LogLevel::Off; }

  template <typename... Arguments>
  void debug(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    if (enabled(LogLevel::Debug)) write(LogLevel::Debug, fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  template <typename... Arguments>
  void info(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    if (enabled(LogLevel::Info)) write(LogLevel::Info, fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  template <typename... Arguments>
  void warning(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    if (enabled(LogLevel::Warning))
      write(LogLevel::Warning, fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  template <typename... Arguments>
  void error(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    if (enabled(LogLevel::Error)) write(LogLevel::Error, fmt::format(format, std::forward<Arguments>(arguments)...));
  }

 private:
  struct Backend;  // spdlog, whose headers stay out of here
  Logger(int rank, LogLevel level, std::unique_ptr<Backend> backend);
  void write(LogLevel level, std::string_view text) const;

  LogLevel level_;
  std::unique_ptr<Backend> backend_;
};

// Of the rank and with the level that the options name.
Logger logger_of(const Options& options);

}  // namespace weft::base
