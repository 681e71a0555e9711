// The version of the headers a program was compiled against, and of the library it runs with.
#pragma once

#include <string_view>

#include "weft/version.h"

namespace weft {

std::string_view version();  // of the library

}  // namespace weft
