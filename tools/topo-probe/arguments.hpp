// The command line of topo-probe as a value.
#pragma once

#include <optional>
#include <string>

#include "base/command_line.hpp"

namespace weft::topo_probe {

struct Arguments {
  std::optional<std::string> model;
  std::optional<std::string> from;
  std::optional<std::string> root;  // without: "/"
  std::optional<std::string> output;
  std::optional<std::string> fail_on;  // a severity
  int ranks = 0;                       // 0: one for each GPU or core group
  bool json = false;
  bool matrix = false;
  bool rings = false;
  bool list_models = false;
};

using Parsed = base::ParsedCommandLine<Arguments>;
Parsed parse(int argc, char** argv);

}  // namespace weft::topo_probe
