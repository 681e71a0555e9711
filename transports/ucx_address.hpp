// What a process tells its peers: the address of its UCX worker on each rail.
//
//   weft-ucx 2 LENGTH[,LENGTH...]\n   and then the addresses, which hold any bytes, one after the other
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::transports {

inline constexpr std::string_view kUcxHead = "weft-ucx 2 ";

std::string write_ucx_address(const std::vector<std::string>& rails);
// Into the text; none if it is no such address.
std::vector<std::string_view> read_ucx_address(std::string_view text);

}  // namespace weft::transports
