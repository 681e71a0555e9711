// The finding about what a folder of dumps holds besides dumps. As those in site.hpp it is of a whole cluster; its
// subjects are names of files.
#pragma once

#include <string_view>

namespace weft::topology::audit {

inline constexpr std::string_view kLeftOut = "cluster.left_out";

}  // namespace weft::topology::audit
