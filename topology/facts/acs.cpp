// Walks the list of extended capabilities (PCI Express base specification, 7.6.3): each has a header of 16 bits id, 4
// bits version and 12 bits offset of the next. Only the words on the way are read, since every one is a transaction on
// the bus.
#include "topology/facts/acs.hpp"

namespace weft::topology {
namespace {

constexpr unsigned kFirst = 0x100;
constexpr unsigned kEnd = 0x1000;
constexpr unsigned kAcs = 0x000d;
constexpr unsigned kControlWord = 4;  // capability register in its lower half, control register in its upper
constexpr int kMaxCapabilities = (kEnd - kFirst) / 8;
constexpr std::uint32_t kGone = 0xffffffff;

AcsFacts decode(std::uint32_t control) {
  const auto bit = [&](int number) { return (control >> number & 1) != 0; };
  AcsFacts acs;
  acs.source_validation = bit(0);
  acs.request_redirect = bit(2);
  acs.completion_redirect = bit(3);
  acs.upstream_forwarding = bit(4);
  acs.direct_translated = bit(6);
  return acs;
}

}  // namespace

std::optional<AcsFacts> read_acs(const ConfigSpace& config) {
  unsigned offset = kFirst;
  for (int i = 0; i < kMaxCapabilities; ++i) {
    const std::optional<std::uint32_t> header = config(offset);
    if (!header || header == kGone) return std::nullopt;
    if ((*header & 0xffff) == kAcs) {
      const std::optional<std::uint32_t> registers = config(offset + kControlWord);
      if (!registers || registers == kGone) return std::nullopt;
      return decode(*registers >> 16);
    }
    const unsigned next = *header >> 20 & 0xffc;
    if (next == 0) return AcsFacts();
    if (next < kFirst) return std::nullopt;
    offset = next;
  }
  return std::nullopt;  // a list that goes round in circles
}

}  // namespace weft::topology
