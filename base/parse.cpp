// std::from_chars, and nothing left over.
#include "base/parse.hpp"

#include <charconv>
#include <cmath>

namespace weft::base {
namespace {

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return {};
  return value;
}

}  // namespace

std::optional<int> parse_integer(std::string_view text) { return parse_number<int>(text); }

std::optional<double> parse_decimal(std::string_view text) {
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value)) return {};
  return value;
}

std::optional<bool> parse_switch(std::string_view text) {
  if (text == "1" || text == "on" || text == "yes" || text == "true") return true;
  if (text == "0" || text == "off" || text == "no" || text == "false") return false;
  return {};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int> parse_port(std::string_view text) {
  const auto port = parse_integer(text);
  if (!port || *port < 1 || *port > 65535) return {};
  return port;
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  std::string_view host = text.substr(0, colon);
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return {};
  if (host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') return {};
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return {};  // an IPv6 address needs brackets, else its end is not to be told from the port
  }
  return HostPort{.host = std::string(host), .port = *port};
}

}  // namespace weft::base
