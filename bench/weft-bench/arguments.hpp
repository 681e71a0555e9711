// The command line of weft-bench as a value. Parsed once, trusted afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/command_line.hpp"
#include "bench/weft-bench/kind.hpp"
#include "weft/options.hpp"
#include "weft/types.hpp"

namespace weft::bench {

inline constexpr int kAllRoots = -1;
// time_budget_s where it is not given.
inline constexpr double kTuneBudgetS = 0.024;
inline constexpr double kRegretBudgetS = 0.04;

enum class Task : std::uint8_t {
  Measure,
  Tune,       // --tune
  Regret,     // --regret
  Calibrate,  // --calibrate
  Explain,    // --explain
  Messages,   // send_recv
  Soak,       // --soak
};

struct Arguments {
  Task task = Task::Measure;
  std::vector<Kind> collectives;
  double skew = 1;           // of v-variants: how much longer than the mean block 0 is
  std::optional<int> ranks;  // -n: start that many ranks here
  std::vector<int> hosts;    // --hosts: ranks of each emulated host; empty: all on one
  std::uint64_t min_bytes = 8;
  std::uint64_t max_bytes = 64ull << 20;
  int factor = 2;
  int iterations = 0;  // timed calls for each size; 0: as many as fit time_budget_s
  int warmup = 5;
  double time_budget_s = 0.2;  // for each size; to compare algorithms, for each of them
  std::vector<DataType> dtypes = {DataType::Float32};
  std::vector<ReduceOp> ops = {ReduceOp::Sum};
  int root = 0;  // or kAllRoots: another one at each call
  bool out_of_place = true;
  bool in_place = false;
  std::optional<Numerics> numerics;
  Quantisation quantisation = Quantisation::None;
  bool hash = false;
  std::uint64_t hash_count = ~std::uint64_t{0};  // elements of each rank's output
  std::string algorithm;
  std::string schedule;    // --schedule: a file; empty: none
  int schedule_ranks = 0;  // that its schedule is for, if it is to be measured; 0: any
  int channels = 0;
  std::vector<std::string> transports;
  std::optional<int> timeout_s;
  std::string json;                       // empty: none
  std::string table = "weft-table.json";  // of --tune and --calibrate
  bool symmetric = false;                 // buffers in symmetric memory
  std::optional<double> soak_s;           // --soak
  std::uint64_t seed = 1;                 // of what --soak draws
  bool check = true;
  bool pin = true;
};

using Parsed = base::ParsedCommandLine<Arguments>;
Parsed parse(int argc, char** argv);

// What the arguments say about how a communicator is made.
void apply(const Arguments& arguments, Options& options);

}  // namespace weft::bench
