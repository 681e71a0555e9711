// Addresses that others may reach, a port that is free now, and the text that carries both.
#include "base/launch/offer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "base/parse.hpp"
#include "base/socket.hpp"

namespace weft::base {
namespace {

constexpr std::size_t kMostAddresses = 8;

Result<std::vector<std::string>> own_addresses(const std::string& interfaces) {
  WEFT_TRY(check_interfaces(interfaces));
  const auto names = interface_names(interfaces);
  const std::string interface = names.empty() ? "" : names.front();  // where the store will listen
  std::vector<std::string> addresses;
  bool loopback = false;
  for (const InterfaceAddress& entry : interface_addresses()) {
    if (!interface.empty() && entry.interface != interface) continue;
    if (interface.empty() && entry.address.loopback()) {
      loopback = true;
    } else if (addresses.size() < kMostAddresses) {
      addresses.push_back(entry.address.host());
    }
  }
  if (loopback) addresses.emplace_back("127.0.0.1");
  if (addresses.empty()) {
    return Status(Code::NotFound,
                  interface.empty()
                      ? "no network interface with an address is up, not even loopback"
                      : fmt::format("WEFT_INTERFACE={}: this interface is down or has no address", interface));
  }
  return addresses;
}

Result<int> free_port() {
  WEFT_TRY_ASSIGN(const auto listener, listen_on(any_address()));
  WEFT_TRY_ASSIGN(const auto address, local_address(listener.get()));
  return address.port();
}

}  // namespace

Result<Offer> make_offer(const std::string& interfaces) {
  WEFT_TRY_ASSIGN(const auto addresses, own_addresses(interfaces));
  WEFT_TRY_ASSIGN(const int port, free_port());
  std::uint64_t nonce = 0;
  if (::getrandom(&nonce, sizeof nonce, 0) != sizeof nonce) {
    return Status(Code::SystemError, fmt::format("getrandom: {}", system_error_text(errno)));
  }
  return Offer{
      .hosts = fmt::format("{}", fmt::join(addresses, ",")), .port = port, .job = fmt::format("{:016x}", nonce)};
}

std::string to_text(const Offer& offer) { return fmt::format("{};{};{}", offer.hosts, offer.port, offer.job); }

Result<Offer> parse_offer(std::string_view text) {
  const auto parts = split(text, ';');
  const auto port = parts.size() == 3 ? parse_port(parts[1]) : std::nullopt;
  if (!port || parts[0].empty() || parts[2].empty()) {
    return Status(Code::Corrupt, fmt::format("'{}' is no offer of a rendezvous", text));
  }
  return Offer{.hosts = std::string(parts[0]), .port = *port, .job = std::string(parts[2])};
}

}  // namespace weft::base
