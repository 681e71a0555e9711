// Small reads of whole files: sysfs attributes, and topology files up to a bound.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "weft/status.hpp"

namespace weft::topology {

inline constexpr int kPipeTimeoutMs = 60'000;

// NotFound if it is not there, InvalidArgument if it is a folder or a device, ResourceExhausted if it is longer than
// `most`, Timeout if it is a pipe from which nothing comes for so long, SystemError otherwise; the message names the
// file.
Result<std::string> read_file(const std::string& path, std::size_t most, int pipe_timeout_ms = kPipeTimeoutMs);

// The first bytes of a file, as many as there are up to `most`; nothing for what is no regular file or cannot be read.
std::string read_head(const std::string& path, std::size_t most);

// One sysfs attribute without the white space around it; nothing if it cannot be read or is empty.
std::optional<std::string> read_attribute(const std::string& path);
std::optional<long long> read_integer(const std::string& path);

// Names in a folder, sorted; none if it cannot be read.
std::vector<std::string> list_folder(const std::string& path);

}  // namespace weft::topology
