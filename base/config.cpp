// The table itself, and what is printed from it.
#include "base/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/log.hpp"
#include "base/parse.hpp"

namespace weft::base {
namespace {

Status bad(std::string_view good) { return Status(Code::InvalidArgument, std::string(good)); }

Status set_timeout(std::string_view value, Options& options) {
  constexpr double kMostSeconds = 1e6;
  const auto seconds = parse_decimal(value);
  if (!seconds || *seconds <= 0 || *seconds > kMostSeconds)
    return bad("give seconds, more than 0 and at most 1000000, like 30 or 0.5");
  options.timeout_ms = std::max(1, static_cast<int>(std::lround(*seconds * 1000)));
  return {};
}

Status set_transports(std::string_view value, Options& options) {
  options.transports.clear();
  for (const std::string_view name : split(value, ',')) {
    const bool plain =
        std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
    if (name.empty() || !plain) return bad("give names of transports with commas between them, like shm,ucx");
    options.transports.emplace_back(name);
  }
  return {};
}

Status set_schedules(std::string_view value, Options& options) {
  options.schedule_files.clear();
  for (const std::string_view file : split(value, ':')) {
    if (file.empty()) return bad("give names of files with colons between them, like ring.json:tree.json");
    options.schedule_files.emplace_back(file);
  }
  return {};
}

Status set_channels(std::string_view value, Options& options) {
  constexpr int kMostChannels = 64;
  const auto channels = parse_integer(value);
  if (!channels || *channels < 0 || *channels > kMostChannels)
    return bad("give a number from 0 (chosen with the algorithm) to 64");
  options.channels = *channels;
  return {};
}

Status set_numerics(std::string_view value, Options& options) {
  const auto numerics = parse_numerics(value);
  if (!numerics) return bad("give fast or invariant");
  options.numerics = *numerics;
  return {};
}

Status set_progress_thread(std::string_view value, Options& options) {
  const auto on = parse_switch(value);
  if (!on) return bad("give 1, on, yes or true, or 0, off, no or false");
  options.progress_thread = *on;
  return {};
}

Status set_single_copy(std::string_view value, Options& options) {
  const auto on = parse_switch(value);
  if (!on) return bad("give 1, on, yes or true, or 0, off, no or false");
  options.single_copy = *on;
  return {};
}

Status set_log_level(std::string_view value, Options& options) {
  if (!parse_log_level(value)) return bad("give one of debug, info, warn, error, off");
  options.log_level = value;
  return {};
}

template <std::string Options::*field>
Status set_text(std::string_view value, Options& options) {
  options.*field = value;
  return {};
}

constexpr std::array kVariables = {
    Variable{"WEFT_RANK", "number", "", "rank", "This process's rank, 0 to WEFT_SIZE - 1; wins over every launcher",
             nullptr},
    Variable{"WEFT_SIZE", "number", "", "size", "How many ranks the job has", nullptr},
    Variable{"WEFT_RENDEZVOUS", "host:port", "", "rendezvous_host, rendezvous_port",
             "Where rank 0 listens; also wins over the address that a launcher gives", nullptr},
    Variable{"WEFT_JOB", "text", "from the launcher", "job_id",
             "Tells jobs apart that might meet at one port: ranks of another job are refused", nullptr},
    Variable{"WEFT_TIMEOUT", "seconds", "600", "timeout_ms", "How long anything waits for other ranks before it fails",
             set_timeout},
    Variable{"WEFT_TRANSPORTS", "list of names", "all", "transports",
             "Transports that may be used, the preferred one first: shm,ucx", set_transports},
    Variable{"WEFT_ALGORITHMS", "rules", "", "algorithms",
             "Algorithms by collective and size: all_reduce:0-4k:recursive_doubling;all_reduce:4k-:ring",
             set_text<&Options::algorithms>},
    Variable{"WEFT_CHANNELS", "number", "0", "channels", "Channels of a schedule; 0: chosen with the algorithm",
             set_channels},
    Variable{"WEFT_PROGRESS_THREAD", "1 or 0", "0", "progress_thread",
             "A helper thread drives operations between waits", set_progress_thread},
    Variable{"WEFT_NUMERICS", "name", "fast", "numerics",
             "invariant: the bits of a reduction depend on the inputs and the order of the ranks only", set_numerics},
    Variable{"WEFT_TABLE", "file", "", "table_file",
             "What was measured on this topology, as weft-bench --tune (chooses before the cost model) and --calibrate "
             "(the model goes by it) write it",
             set_text<&Options::table_file>},
    Variable{"WEFT_SCHEDULES", "list of files", "", "schedule_files",
             "Schedules besides the built-in algorithms, as weft-schedule export writes them: ring.json:tree.json",
             set_schedules},
    Variable{"WEFT_TOPOLOGY", "file", "", "topology_file", "Topology to use instead of probing this machine",
             set_text<&Options::topology_file>},
    Variable{"WEFT_HOST_ID", "text", "", "host_id",
             "Separates ranks of one machine as if they ran on several; never joins two machines",
             set_text<&Options::host_id>},
    Variable{"WEFT_INTERFACE", "list of names", "", "interface",
             "Network interface for the store and for UCX: eth0; several share long messages between hosts, the first "
             "has the store: eth0,eth1",
             set_text<&Options::interface>},
    Variable{"WEFT_SINGLE_COPY", "1 or 0", "1", "single_copy",
             "Long messages within a host may be read from the sender's memory, where the system allows it",
             set_single_copy},
    Variable{"WEFT_LOG", "level", "warn", "log_level",
             "What is written to standard error: debug, info, warn, error or off", set_log_level},
};

// Levenshtein's: insertions, deletions and replacements from one word to the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const Variable> variables() { return kVariables; }

Status apply_configuration(const Environment& environment, Options& options) {
  for (const Variable& variable : kVariables) {
    const auto value = environment.get(variable.name);
    if (!value || variable.apply == nullptr) continue;
    if (Status status = variable.apply(*value, options); !status.ok()) {
      return std::move(status).with_context(fmt::format("{}={}", variable.name, *value));
    }
  }
  return {};
}

std::vector<std::string> unknown_variables(const Environment& environment) {
  std::vector<std::string> warnings;
  for (const std::string_view name : environment.names_with_prefix("WEFT_")) {
    const bool known = std::ranges::any_of(kVariables, [&](const Variable& variable) { return variable.name == name; });
    if (known || name.starts_with("WEFT_TEST_")) continue;
    const auto& nearest = *std::ranges::min_element(
        kVariables, {}, [&](const Variable& variable) { return distance(name, variable.name); });
    warnings.push_back(
        fmt::format("{} is set, but Weft knows no such variable; the nearest is {}", name, nearest.name));
  }
  return warnings;
}

std::string describe_configuration(const Environment& environment) {
  std::string text;
  for (const Variable& variable : kVariables) {
    const auto value = environment.get(variable.name);
    const std::string setting = value                            ? fmt::format("={}", *value)
                                : variable.default_value.empty() ? ""
                                                                 : fmt::format(" [{}]", variable.default_value);
    text += fmt::format("{}{}\n    {}\n", variable.name, setting, variable.help);
  }
  return text;
}

std::string configuration_page() {
  std::string page =
      "# Configuration\n\n"
      "Every setting of Weft is a field of `weft::Options`. `Options::from_environment()` reads the variables below; "
      "what a program\n"
      "sets by hand afterwards stands. An empty variable counts as unset. A value that makes no sense is an error that "
      "names the\n"
      "variable, the value and what would be right; an unknown `WEFT_` variable is a warning. How rank, size and "
      "rendezvous are found\n"
      "when no variable gives them is in [launching.md](launching.md).\n\n"
      "All ranks should have the same settings; of transports, algorithms and channels, rank 0's count for all.\n\n"
      "| Variable | Value | Default | Field | Meaning |\n|---|---|---|---|---|\n";
  for (const Variable& variable : kVariables) {
    page += fmt::format("| `{}` | {} | {} | `{}` | {} |\n", variable.name, variable.type, variable.default_value,
                        variable.field, variable.help);
  }
  page += "\nThis page is printed from the table in `base/config.cpp`; a test compares the two.\n";
  return page;
}

}  // namespace weft::base
