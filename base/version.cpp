// The version that the library was built as.
#include "weft/version.hpp"

namespace weft {

std::string_view version() { return WEFT_VERSION_STRING; }

}  // namespace weft
