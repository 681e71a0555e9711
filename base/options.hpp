// Options from an environment that is given as a value: Options::from_environment() without the process around it.
#pragma once

#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/launch/launch.hpp"
#include "weft/options.hpp"

namespace weft::base {

struct FoundOptions {
  Options options;
  std::vector<std::string> warnings;
};

Result<FoundOptions> find_options(const Environment& environment, const LaunchHelpers& helpers);

}  // namespace weft::base
