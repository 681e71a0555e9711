// Addresses in the GID table of a RoCE port.
#include "topology/facts/gids.hpp"

#include <array>
#include <cctype>
#include <string>

namespace weft::topology {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

bool is_ipv4_gid(const GidFacts& gid) {
  constexpr std::array<std::string_view, 2> kMapped = {"0000:0000:0000:0000:0000:ffff:", "::ffff:"};
  const std::string address = lower(gid.address);
  return address.starts_with(kMapped[0]) || address.starts_with(kMapped[1]);
}

bool is_link_local_gid(const GidFacts& gid) { return lower(gid.address).starts_with("fe80:"); }

const GidFacts* best_gid(const PortFacts& port) {
  const GidFacts* routed = nullptr;
  for (const GidFacts& gid : port.gids) {
    if (gid.type != "RoCE v2" || is_link_local_gid(gid)) continue;
    if (is_ipv4_gid(gid)) return &gid;
    if (routed == nullptr) routed = &gid;
  }
  return routed;
}

}  // namespace weft::topology
