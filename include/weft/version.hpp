// The version of the headers a program was compiled against, and of the library it runs with.
#pragma once

#include <string_view>

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0
#define WEFT_VERSION_STRING "0.1.0"

namespace weft {

std::string_view version();  // of the library

}  // namespace weft
