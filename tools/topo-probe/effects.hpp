// Which options can do something together: what would be ignored is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"

namespace weft::topo_probe {

// `given`: the options that stand on the command line ("--json"), without those behind a subcommand. What is told names
// the first that would be ignored, and why; nothing: each can do something.
std::optional<std::string> find_option_without_effect(const Arguments& arguments,
                                                      const std::vector<std::string>& given);

}  // namespace weft::topo_probe
