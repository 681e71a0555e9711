// Seven words, read strictly: what is read is what would be written.
#include "rdma_point.hpp"

#include <cstdlib>
#include <sstream>

namespace weft::vendor {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

std::string hex(const ibv_gid& gid) {
  std::string text;
  for (const std::uint8_t byte : gid.raw) {
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 0xf];
  }
  return text;
}

bool read_gid(const std::string& text, ibv_gid& gid) {
  if (text.size() != 2 * sizeof gid.raw || text.find_first_not_of(kHexDigits) != std::string::npos) return false;
  for (std::size_t i = 0; i < sizeof gid.raw; ++i)
    gid.raw[i] = static_cast<std::uint8_t>(std::strtoul(text.substr(2 * i, 2).c_str(), nullptr, 16));
  return true;
}

}  // namespace

std::string to_text(const RdmaPoint& point) {
  std::ostringstream text;
  text << point.queue << ' ' << point.sequence << ' ' << point.lid << ' ' << hex(point.gid) << ' ' << point.mtu << ' '
       << point.key << ' ' << point.address;
  return text.str();
}

std::optional<RdmaPoint> parse_rdma_point(const std::string& text) {
  std::istringstream words(text);
  RdmaPoint point;
  std::string gid;
  if (!(words >> point.queue >> point.sequence >> point.lid >> gid >> point.mtu >> point.key >> point.address) ||
      !read_gid(gid, point.gid) || point.mtu < IBV_MTU_256 || point.mtu > IBV_MTU_4096)
    return std::nullopt;
  // Streams take signs, spaces and zeros that nobody wrote.
  if (to_text(point) != text) return std::nullopt;
  return point;
}

}  // namespace weft::vendor
