// Two hosts on one machine: network namespaces joined by a veth pair, with UTS and IPC namespaces of their own for what
// runs in them. Removed afterwards, also when the test fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::test {

class TwoHosts {
 public:
  // If the machine refuses, `why_not` says what it refused: namespaces need root and iproute2.
  static std::optional<TwoHosts> make(std::string& why_not);

  TwoHosts(TwoHosts&& other) noexcept;
  TwoHosts& operator=(TwoHosts&&) = delete;
  ~TwoHosts();

  // What goes before a command so that it runs on host 0 or 1.
  std::vector<std::string> on(int host) const;
  const std::string& address(int host) const { return addresses_[static_cast<std::size_t>(host)]; }
  // Bytes that the host's interface sent so far.
  std::uint64_t bytes_sent(int host) const;

  static constexpr const char* kInterface = "weft0";

 private:
  TwoHosts() = default;
  std::vector<std::string> names_;
  std::vector<std::string> addresses_ = {"10.213.77.1", "10.213.77.2"};
};

}  // namespace weft::test
