// Small reads of whole files: sysfs attributes, and topology files up to a bound.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.hpp"

namespace weft::topology {

inline constexpr std::size_t kHeadBytes = 4096;

// How long a pipe is listened to: until nothing has come from it for so long, and in all.
struct PipeTimeouts {
  int silence_ms = 10'000;
  int whole_ms = 60'000;
};

// How many bytes are read of a file that begins so: all of it, or kHeadBytes or more.
using MostBytes = std::function<std::size_t(std::string_view head)>;

// NotFound if it is not there, InvalidArgument if it is a folder or a device, ResourceExhausted if it is longer than
// `most` or no file can be opened, Timeout if it is a pipe that is silent or does not end, SystemError otherwise; the
// message names the file.
Result<std::string> read_file(const std::string& path, const MostBytes& most, PipeTimeouts pipe = {});
Result<std::string> read_file(const std::string& path, std::size_t most, PipeTimeouts pipe = {});

// The first bytes of a file, as many as there are up to `most`; nothing for what is no regular file or cannot be read.
std::string read_head(const std::string& path, std::size_t most);

// One sysfs attribute without the white space around it; nothing if it cannot be read or is empty.
std::optional<std::string> read_attribute(const std::string& path);
std::optional<long long> read_integer(const std::string& path);

// Names in a folder, sorted; none if it cannot be read: then errno tells why.
std::vector<std::string> list_folder(const std::string& path);

}  // namespace weft::topology
