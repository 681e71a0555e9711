// A table of options and tasks. Not in it: what all tasks heed, and what some take in part or refuse for a reason of
// their own (words.cpp).
#include "bench/weft-bench/heeded.hpp"

#include <fmt/format.h>

#include <array>

namespace weft::bench {
namespace {

// A bit for each task.
constexpr unsigned bit(Task task) { return 1U << static_cast<unsigned>(task); }
constexpr unsigned kMeasure = bit(Task::Measure);
constexpr unsigned kMessages = bit(Task::Messages);
constexpr unsigned kTune = bit(Task::Tune);
constexpr unsigned kRegret = bit(Task::Regret);
constexpr unsigned kCalibrate = bit(Task::Calibrate);
constexpr unsigned kExplain = bit(Task::Explain);
constexpr unsigned kSoak = bit(Task::Soak);
constexpr unsigned kCompared = kTune | kRegret;
constexpr unsigned kListed = kMeasure | kCompared | kExplain;  // call by call, as the options list them

struct NamedTask {
  Task task;
  std::string_view name;
};
constexpr std::array kTasks = {
    NamedTask{Task::Measure, "measured collectives"},
    NamedTask{Task::Messages, "send_recv"},
    NamedTask{Task::Tune, "--tune"},
    NamedTask{Task::Regret, "--regret"},
    NamedTask{Task::Calibrate, "--calibrate"},
    NamedTask{Task::Explain, "--explain"},
    NamedTask{Task::Soak, "--soak"},
};

struct Heeded {
  std::string_view option;
  unsigned tasks;
  std::string_view instead = "";  // what whoever gave it may have wanted
};
constexpr std::array kHeeded = {
    Heeded{"min-bytes", kListed | kMessages | kSoak},
    Heeded{"max-bytes", kListed | kMessages | kSoak},
    Heeded{"factor", kListed | kMessages},
    Heeded{"dtype", kListed | kSoak},
    Heeded{"op", kListed | kSoak},
    Heeded{"root", kListed},
    Heeded{"in-place", kListed},
    Heeded{"out-of-place", kListed},
    Heeded{"skew", kMeasure | kExplain},
    Heeded{"algorithm", kMeasure | kExplain | kSoak, "; --tune and --regret compare all"},
    Heeded{"numerics", kListed | kSoak},
    Heeded{"quantise", kMeasure | kExplain},
    Heeded{"symmetric", kListed | kSoak},
    Heeded{"iterations", kMeasure | kMessages},
    Heeded{"warmup", kMeasure | kMessages},
    Heeded{"time-budget", kMeasure | kMessages | kCompared},
    Heeded{"json", kMeasure | kMessages | kRegret, "; --tune and --calibrate write to --table"},
    Heeded{"no-check", kMeasure | kMessages},
    Heeded{"hash", kMeasure},
    Heeded{"hash-count", kMeasure},
    Heeded{"table", kTune | kCalibrate, "; WEFT_TABLE=FILE has calls chosen by one"},
    Heeded{"seed", kSoak},
};

// "--tune", "--tune and --regret", "measured collectives, --tune and --regret".
std::string names_of(unsigned tasks) {
  std::string names;
  for (const NamedTask& one : kTasks) {
    if ((tasks & bit(one.task)) == 0) continue;
    tasks &= ~bit(one.task);
    names += names.empty() ? "" : tasks == 0 ? " and " : ", ";
    names += one.name;
  }
  return names;
}

}  // namespace

Status refuse_ignored(const Words& words, Task task) {
  for (const Heeded& heeded : kHeeded) {
    if ((heeded.tasks & bit(task)) != 0 || !words.has(heeded.option)) continue;
    return Status(Code::InvalidArgument, fmt::format("--{} goes with {}: leave it out with {}{}", heeded.option,
                                                     names_of(heeded.tasks), names_of(bit(task)), heeded.instead));
  }
  if (words.has("hash-count") && !words.has("hash"))
    return Status(Code::InvalidArgument, "--hash-count says how much --hash hashes: give --hash, too");
  return {};
}

}  // namespace weft::bench
