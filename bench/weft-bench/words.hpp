// Words: the command line as it was typed, and what it means.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/weft-bench/arguments.hpp"
#include "weft/status.hpp"

namespace weft::bench {

inline constexpr int kMaxRanks = 4096;

// What CLI11 fills before names become values.
struct Words {
  std::vector<std::string> collectives;
  std::vector<std::string> dtypes = {"float32"};
  std::vector<std::string> ops = {"sum"};
  std::string min_bytes = "8";
  std::string max_bytes = "64M";
  std::string root = "0";
  bool out_of_place = false;
  bool no_check = false;
  bool no_pin = false;
  bool tune = false;
  bool regret = false;
  bool calibrate = false;
  bool explain = false;
  bool soak = false;
  bool list = false;
  std::string numerics;
  std::string quantise;
  std::set<std::string, std::less<>> given;  // names of options: "min-bytes", "no-check" but not "check"

  bool has(std::string_view option) const { return given.contains(option); }
};

// Names become values. InvalidArgument says in one line what was given and what could be.
Status convert(Words& words, Arguments& arguments);

}  // namespace weft::bench
