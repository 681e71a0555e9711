// ShmAddress: what a process tells others so that they can share memory with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transports/nonce.hpp"

namespace weft::transports {

struct ShmAddress {
  std::string boot_id;  // of the running kernel: no two machines have the same
  std::string host_id;  // set by the user to keep ranks of one machine apart
  std::string socket;   // abstract name on which the process listens; other network namespaces do not see it
  Nonce nonce{};        // to be shown to the listener
  uid_t uid = 0;
  pid_t pid = 0;               // for messages
  std::uint64_t nonce_at = 0;  // where in the process's memory the nonce is; 0: it is not to be read

  std::string to_text() const;
  static std::optional<ShmAddress> parse(std::string_view text);

  bool operator==(const ShmAddress&) const = default;
};

// Empty if the kernel does not tell.
std::string read_boot_id();

}  // namespace weft::transports
