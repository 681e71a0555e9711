// A setting in C is the text of its WEFT_* variable, so that one table checks and explains both.
#include "comm/c_api/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.hpp"
#include "base/launch/launch.hpp"
#include "base/log.hpp"
#include "base/options.hpp"

namespace weft::comm::c_api {
namespace {

// What a structure is called, and how long its first version was.
struct Structure {
  const char* type;
  const char* initializer;
  std::size_t first_size;
};
constexpr Structure kOptions{"weft_options_t", "WEFT_OPTIONS_INITIALIZER",
                             offsetof(weft_options_t, table_file) + sizeof(const char*)};
constexpr Structure kMessageOptions{"weft_message_options_t", "WEFT_MESSAGE_OPTIONS_INITIALIZER",
                                    offsetof(weft_message_options_t, timeout_ms) + sizeof(std::int32_t)};
constexpr std::size_t kMostSize = 64 << 10;  // beyond it `size` was never set

Status bad(std::string text) { return Status(Code::InvalidArgument, std::move(text)); }

struct Setting {
  std::string_view field;
  std::string_view variable;
  std::string value;
};

// Those that are set.
std::vector<Setting> settings_of(const weft_options_t& options) {
  std::vector<Setting> settings;
  const auto add = [&](std::string_view field, std::string_view variable, std::string value) {
    if (!value.empty()) settings.push_back({field, variable, std::move(value)});
  };
  const auto text = [](const char* value) { return std::string(value == nullptr ? "" : value); };
  const auto number = [](int value) { return value == 0 ? std::string() : std::to_string(value); };
  const int timeout_ms = options.timeout_ms;
  if (timeout_ms != 0) add("timeout_ms", "WEFT_TIMEOUT", fmt::format("{}.{:03}", timeout_ms / 1000, timeout_ms % 1000));
  add("channels", "WEFT_CHANNELS", number(options.channels));
  if (options.progress_thread != WEFT_DEFAULT)
    add("progress_thread", "WEFT_PROGRESS_THREAD", options.progress_thread == WEFT_ON ? "1" : "0");
  add("transports", "WEFT_TRANSPORTS", text(options.transports));
  add("algorithms", "WEFT_ALGORITHMS", text(options.algorithms));
  add("topology_file", "WEFT_TOPOLOGY", text(options.topology_file));
  add("network_interface", "WEFT_INTERFACE", text(options.network_interface));
  add("host_id", "WEFT_HOST_ID", text(options.host_id));
  add("log_level", "WEFT_LOG", text(options.log_level));
  add("numerics", "WEFT_NUMERICS", text(options.numerics));
  add("table_file", "WEFT_TABLE", text(options.table_file));
  add("schedule_files", "WEFT_SCHEDULES", text(options.schedule_files));
  return settings;
}

Status check_values(const weft_options_t& options) {
  constexpr int kMostMs = 1'000'000'000;
  if (options.timeout_ms < 0 || options.timeout_ms > kMostMs) {
    return bad(fmt::format("options->timeout_ms is {}; give 1 to {}, or 0 for WEFT_TIMEOUT or the default",
                           options.timeout_ms, kMostMs));
  }
  const int progress = options.progress_thread;
  if (progress < WEFT_OFF || progress > WEFT_ON) {
    return bad(
        fmt::format("options->progress_thread is {}; give WEFT_ON (1), WEFT_OFF (-1) or WEFT_DEFAULT (0)", progress));
  }
  Options scratch;
  for (const Setting& setting : settings_of(options)) {
    const auto variables = base::variables();
    const auto row = std::ranges::find(variables, setting.variable, &base::Variable::name);
    if (Status status = row->apply(setting.value, scratch); !status.ok())
      return bad(fmt::format("options->{} is {}; {}", setting.field, setting.value, status.message()));
  }
  return {};
}

// The process's variables with those of the settings.
base::Environment environment_with(const weft_options_t& options) {
  const base::Environment process = base::Environment::of_process();
  base::Environment::Variables variables;
  for (const std::string_view name : process.names_with_prefix(""))
    variables.emplace(name, process.get(name).value_or(""));
  for (Setting& setting : settings_of(options))
    variables.insert_or_assign(std::string(setting.variable), std::move(setting.value));
  return base::Environment(std::move(variables));
}

// What the caller gave, laid over the defaults.
template <typename T>
Result<T> read_versioned(const T* given, const T& defaults, const Structure& structure) {
  if (given == nullptr) return defaults;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < structure.first_size || size > kMostSize) {
    return bad(fmt::format("options->size is {}, and no version of {} is; begin with {} options = {}", size,
                           structure.type, structure.type, structure.initializer));
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t at = sizeof(T); at < size; ++at) {
    if (bytes[at] == 0) continue;
    return bad(
        fmt::format("options: byte {} of {} is set, but {} ends at byte {} in this library, {}; run a newer one, or "
                    "leave zero what it does not know",
                    at, size, structure.type, sizeof(T), WEFT_VERSION_STRING));
  }
  T options = defaults;
  std::memcpy(&options, given, std::min(size, sizeof options));
  if (options.version != defaults.version) {
    return bad(fmt::format("options->version is {}, and this library, {}, knows {}; begin with {} options = {}",
                           options.version, WEFT_VERSION_STRING, defaults.version, structure.type,
                           structure.initializer));
  }
  return options;
}

}  // namespace

Result<weft_options_t> read_options(const weft_options_t* given) {
  constexpr weft_options_t kDefaults = WEFT_OPTIONS_INITIALIZER;
  WEFT_TRY_ASSIGN(const weft_options_t options, read_versioned(given, kDefaults, kOptions));
  WEFT_TRY(check_values(options));
  return options;
}

Result<weft_message_options_t> read_options(const weft_message_options_t* given) {
  constexpr weft_message_options_t kDefaults = WEFT_MESSAGE_OPTIONS_INITIALIZER;
  WEFT_TRY_ASSIGN(const weft_message_options_t options, read_versioned(given, kDefaults, kMessageOptions));
  if (options.timeout_ms >= WEFT_UNTIL_DEADLINE) return options;
  return bad(fmt::format("options->timeout_ms is {}; give 0 or more, or WEFT_UNTIL_DEADLINE (-1)", options.timeout_ms));
}

Result<Options> launched_options(const weft_options_t& settings) {
  WEFT_TRY_ASSIGN(base::FoundOptions found, base::find_options(environment_with(settings), base::launch_helpers()));
  if (found.options.rank == 0) {
    const base::Logger logger = base::logger_of(found.options);
    for (const std::string& warning : found.warnings) logger.warning("{}", warning);
  }
  return std::move(found.options);
}

Result<Options> configured_options(const weft_options_t& settings) {
  Options options;
  WEFT_TRY(base::apply_configuration(environment_with(settings), options));
  return options;
}

}  // namespace weft::comm::c_api
