// Where one end of a stream of RDMA writes is, as it tells the other: "QUEUE SEQUENCE LID GID MTU KEY ADDRESS", the GID
// in 32 hexadecimal digits, all else decimal, the MTU as verbs count it (1: 256 bytes, 5: 4096).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <string>

namespace weft::vendor {

struct RdmaPoint {
  std::uint32_t queue = 0;     // 24 bits
  std::uint32_t sequence = 0;  // of the first packet; 24 bits
  std::uint16_t lid = 0;       // 0 where the port has none
  ibv_gid gid{};
  int mtu = IBV_MTU_1024;
  std::uint32_t key = 0;
  std::uint64_t address = 0;
};

std::string to_text(const RdmaPoint& point);
// Nothing for anything that to_text() does not write.
std::optional<RdmaPoint> parse_rdma_point(const std::string& text);

}  // namespace weft::vendor
