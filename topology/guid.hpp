// GUIDs of RDMA devices, in the two forms in which they are written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft::topology {

// NCCL writes a card's system image GUID as one number, whose bytes stand in the order of a little-endian machine:
// "0xa4f8560003a1420c" is "0c42:a103:0056:f8a4" in sysfs. Nothing if it is no such number, or 0.
std::optional<std::string> guid_of_nccl(std::string_view number);
// And back; nothing if it is not in sysfs's form.
std::optional<std::string> guid_for_nccl(std::string_view guid);

// What is the same however it is written: hexadecimal digits alone, lower case, from the first that is not 0. Empty for
// an identifier of zeros, which names nothing.
std::string bare_digits(std::string_view identifier);

}  // namespace weft::topology
