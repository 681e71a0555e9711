// LoadedSchedules: schedules that users wrote, from files, proved and ready to be chosen like the built-in algorithms.
// See docs/schedules.md, "Schedules from files".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/schedule.hpp"
#include "weft/schedule_builder.hpp"
#include "weft/status.hpp"

namespace weft::algorithms {

// Before the name that a file gives its schedule: an algorithm of a file is called "file.ring".
inline constexpr std::string_view kLoadedPrefix = "file.";

// A file that was read, not yet understood.
struct ScheduleText {
  std::string file;
  std::string text;

  bool operator==(const ScheduleText&) const = default;
};

// At most 64 files of 16 MiB together. Errors as of topology::read_file, and InvalidArgument for a file named twice.
Result<std::vector<ScheduleText>> read_schedule_files(const std::vector<std::string>& files);

// One schedule, for calls of its collective on as many ranks as it has, with its root.
struct LoadedSchedule {
  std::string name;       // "file.ring"
  std::string file;       // where it is from
  Schedule out_of_place;  // of all ranks; `uneven` if it was proved for unequal pieces, so that it may run in passes
  Schedule in_place;
  bool invariant = false;  // reduces in the order of Numerics::Invariant
  bool v_variants = false;

  Collective collective() const { return out_of_place.collective; }
  int size() const { return out_of_place.size; }
  int root() const { return out_of_place.root; }
  int channels() const { return out_of_place.channels; }
  const Schedule& for_call(bool in_place_call) const { return in_place_call ? in_place : out_of_place; }
  // Empty when it can serve the request in a group of so many ranks, else the reason why not.
  std::string unsupported(int ranks, const Request& request) const;
  // "all_reduce/file.ring: 5 ranks, 1 channel, one pass; from ring.json".
  std::string to_string() const;
};

// Reads and proves. Corrupt names the file, and rank, channel and step of what is wrong.
Result<LoadedSchedule> load_schedule(const ScheduleText& text);

class LoadedSchedules {
 public:
  // The first error of load_schedule(); InvalidArgument names two files whose schedules could not be told apart.
  static Result<LoadedSchedules> load(const std::vector<ScheduleText>& texts);

  // Sorted by collective, name, ranks and root.
  const std::vector<LoadedSchedule>& all() const { return schedules_; }
  // One of this name, to know its channels by; null if there is none. channels 0: any.
  const LoadedSchedule* named(Collective collective, std::string_view name, int channels = 0) const;
  // The one of this name for so many ranks and this root; null if there is none.
  const LoadedSchedule* find(Collective collective, std::string_view name, int size, int root) const;

 private:
  std::vector<LoadedSchedule> schedules_;
};

}  // namespace weft::algorithms
