// Sets of CPUs in list form ("0-15,128-143"), as rules compare them.
#pragma once

#include <string>
#include <string_view>

namespace weft::topology::audit {

// The CPUs that both lists have, in list form; empty if there are none.
std::string common_cpus(std::string_view a, std::string_view b);

}  // namespace weft::topology::audit
