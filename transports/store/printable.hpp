// How keys and job names, which may hold any bytes, appear in messages.
#pragma once

#include <string>
#include <string_view>

namespace weft::transports {

// Printable characters as they are, others as \xNN, cut off with "..." after 80.
std::string printable(std::string_view bytes);

}  // namespace weft::transports
