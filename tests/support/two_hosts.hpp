// Two hosts on one machine: network namespaces joined by two veth pairs, each a network of its own, with UTS and IPC
// namespaces of their own for what runs in them. Removed afterwards, also when the test fails.
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
  // Over kInterface.
  std::string address(int host) const { return address(host, 0); }
  // Bytes that the host's interface sent so far.
  std::uint64_t bytes_sent(int host, const std::string& interface = kInterface) const;

  static constexpr const char* kInterface = "weft0";
  static constexpr const char* kSecondInterface = "weft1";

 private:
  TwoHosts() = default;
  static std::string address(int host, int link) {
    return "10.213." + std::to_string(77 + link) + "." + std::to_string(host + 1);
  }
  std::vector<std::string> names_;
};

}  // namespace weft::test
