// spdlog behind the Logger: nothing of it is seen in the header.
#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <string>

namespace weft::base {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warning:
      return spdlog::level::warn;
    case LogLevel::Error:
      return spdlog::level::err;
    case LogLevel::Off:
      break;
  }
  return spdlog::level::off;
}

}  // namespace

// Not registered with spdlog: its registry is a global that belongs to the application.
struct Logger::Backend {
  template <typename Sink, typename... Arguments>
  static std::unique_ptr<Backend> over(Arguments&&... arguments) {
    return std::make_unique<Backend>(
        Backend{spdlog::logger("weft", std::make_shared<Sink>(std::forward<Arguments>(arguments)...))});
  }
  spdlog::logger logger;
};

std::optional<LogLevel> parse_log_level(std::string_view name) {
  if (name == "debug") return LogLevel::Debug;
  if (name == "info") return LogLevel::Info;
  if (name == "warn" || name == "warning") return LogLevel::Warning;
  if (name == "error") return LogLevel::Error;
  if (name == "off") return LogLevel::Off;
  return {};
}

Logger::Logger(int rank, LogLevel level) : Logger(rank, level, Backend::over<spdlog::sinks::stderr_sink_mt>()) {}

Logger::Logger(int rank, LogLevel level, std::ostream& out)
    : Logger(rank, level, Backend::over<spdlog::sinks::ostream_sink_mt>(out)) {}

Logger::Logger(int rank, LogLevel level, std::unique_ptr<Backend> backend)
    : level_(level), backend_(std::move(backend)) {
  const std::string who = rank < 0 ? "weft" : fmt::format("weft[{}]", rank);
  backend_->logger.set_pattern(who + ": %l: %v");
  backend_->logger.set_level(to_spdlog(level));
  backend_->logger.flush_on(spdlog::level::debug);
}

Logger::Logger(Logger&&) noexcept = default;
Logger& Logger::operator=(Logger&&) noexcept = default;
Logger::~Logger() = default;

void Logger::write(LogLevel level, std::string_view text) const {
  backend_->logger.log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
}

Logger logger_of(const Options& options) {
  return Logger(options.rank, parse_log_level(options.log_level).value_or(LogLevel::Warning));
}

}  // namespace weft::base
