// Where the report goes.
#pragma once

#include <string>
#include <string_view>

#include "weft/status.hpp"

namespace weft::topo_probe {

Status write_stdout(std::string_view text);
// All of it or nothing: written beside `path`, then moved there.
Status write_file(const std::string& path, std::string_view text);

}  // namespace weft::topo_probe
