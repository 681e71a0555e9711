// What rank 0 tells: a table for people while it runs, and a JSON file at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/weft-bench/arguments.hpp"
#include "bench/weft-bench/hash.hpp"
#include "bench/weft-bench/machine.hpp"
#include "bench/weft-bench/timing.hpp"
#include "bench/weft-bench/workload.hpp"

namespace weft::bench {

struct Measurement {
  Case what;
  std::uint64_t bytes = 0;
  int ranks = 1;
  std::string algorithm;
  int channels = 1;
  std::string transport;
  Timing time;
  std::optional<OutputHash> hash;
  bool checked = false;
  std::uint64_t wrong = 0;

  double algorithm_bandwidth_gbs() const;
  double bus_bandwidth_gbs() const;  // algbw scaled to what each rank's link carried
};

// Who runs it, where: known before the first measurement.
struct Setting {
  Machine machine;
  std::vector<RankPlace> places;
  std::string launcher;    // "weft-bench -n", "openmpi", "one rank"
  std::string placement;   // in words
  bool symmetric = false;  // buffers are in symmetric memory
};

// The table goes to standard output, progress to standard error if that is a terminal.
class Table {
 public:
  Table(const Setting& setting, const Arguments& arguments);

  // OK as long as all of it could be written. After an error nothing more is.
  const Status& written() const { return written_; }

  void begin(const Case& what);
  void progress(std::string_view what, int done, int total);
  void row(const Measurement& measurement);
  void end(const std::vector<Measurement>& measurements);

 private:
  void write(std::string_view text);
  void clear_progress();
  Status written_;
  bool show_progress_;
  bool progress_shown_ = false;
};

std::string to_json(const Setting& setting, const std::vector<Measurement>& measurements);

}  // namespace weft::bench
