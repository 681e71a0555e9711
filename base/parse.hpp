// Small parsers for settings: the whole text or nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::base {

std::optional<int> parse_integer(std::string_view text);     // "-7"; no sign +, no spaces
std::optional<double> parse_decimal(std::string_view text);  // "0.5", finite
std::optional<bool> parse_switch(std::string_view text);     // 1, on, yes, true; 0, off, no, false

// The parts between separators; an empty text has one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

struct HostPort {
  std::string host;
  int port = 0;

  bool operator==(const HostPort&) const = default;
};
// "node1:29500", "[::1]:29500"; the port is 1 to 65535.
std::optional<HostPort> parse_host_port(std::string_view text);
std::optional<int> parse_port(std::string_view text);

}  // namespace weft::base
