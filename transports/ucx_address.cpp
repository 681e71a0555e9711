// Writing and reading; what is read came from another process and may be anything.
#include "transports/ucx_address.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parse.hpp"

namespace weft::transports {

std::string write_ucx_address(const std::vector<std::string>& rails) {
  std::vector<std::size_t> lengths;
  std::string addresses;
  for (const std::string& rail : rails) {
    lengths.push_back(rail.size());
    addresses += rail;
  }
  return fmt::format("{}{}\n", kUcxHead, fmt::join(lengths, ",")) + addresses;
}

std::vector<std::string_view> read_ucx_address(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (!text.starts_with(kUcxHead) || end == std::string_view::npos) return {};
  std::vector<std::string_view> rails;
  std::string_view rest = text.substr(end + 1);
  for (const std::string_view length : base::split(text.substr(0, end).substr(kUcxHead.size()), ',')) {
    const auto bytes = base::parse_integer(length);
    if (!bytes || *bytes <= 0 || static_cast<std::size_t>(*bytes) > rest.size()) return {};
    rails.push_back(rest.substr(0, static_cast<std::size_t>(*bytes)));
    rest.remove_prefix(rails.back().size());
  }
  if (!rest.empty()) return {};
  return rails;
}

}  // namespace weft::transports
