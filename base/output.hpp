// What a program leaves behind: its results on standard output or in a file, its complaints on standard error.
#pragma once

#include <string>
#include <string_view>

#include "weft/status.hpp"

namespace weft::base {

// SystemError if not all of it could be written, as on a full disk, to a closed pipe or beyond the largest file that is
// allowed (programs ignore SIGPIPE and SIGXFSZ).
Status write_stdout(std::string_view text);

// All of it or nothing: written beside the file that `path` names, then moved there; what is replaced keeps its mode. A
// symbolic link stays one. What is there and no regular file (a folder, a device, a pipe) is never replaced:
// InvalidArgument. SystemError otherwise, as for links in a circle; then nothing is left beside it.
Status write_file(const std::string& path, std::string_view text);
// What write_file would complain about, as far as it can be told before.
Status check_writable(const std::string& path);

// If standard error cannot be written there is nobody left to tell.
void write_stderr(std::string_view text);
// "program: message" as one line on standard error, whatever `message` holds.
void complain(std::string_view program, std::string_view message);

}  // namespace weft::base
