// What a process may run out of: open files and memory. Whoever reads a machine file by file would take a file that
// cannot be opened for one that is not there, and tell half of a machine as if it were all.
#pragma once

#include <cstddef>
#include <string_view>

#include "weft/status.hpp"

namespace weft::base {

inline constexpr int kSpareFiles = 16;  // more than any reader, with the libraries it calls, has open at once
inline constexpr std::size_t kSpareBytes = std::size_t{4} << 20;

// Whether a call failed with this errno for lack of open files or memory, which says nothing of what it was asked.
bool is_shortage(int error);
// ResourceExhausted: the limit, and how to raise it.
Status shortage(int error);

// ResourceExhausted unless as many more files can be opened, and as many bytes allocated. Asked before and after calls
// that do not say why they found nothing: libhwloc's, and those that give names or attributes.
Status check_spare();

// For main: from now on a process without memory ends with one line and this status, instead of being aborted, in
// whatever thread that happens.
void end_well_without_memory(std::string_view program, int exit_status);
// Writes that line; returns the status.
int tell_without_memory();

}  // namespace weft::base
