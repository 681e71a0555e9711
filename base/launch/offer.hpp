// Offer: the addresses, a free port and a job name that rank 0 offers to the others where the launcher gives them none.
#pragma once

#include <string>
#include <string_view>

#include "weft/status.hpp"

namespace weft::base {

struct Offer {
  std::string hosts;  // "10.0.0.1,fd00::1,127.0.0.1": whichever a rank can reach; the store's hello tells whether it is
                      // the right one
  int port = 0;       // was free a moment ago; the store may take one of the next
  std::string job;    // random, so that no other job can be taken for this one

  bool operator==(const Offer&) const = default;
};

// Of this host: the addresses of the first of the interfaces, or without one those of all interfaces that are up,
// loopback last.
Result<Offer> make_offer(const std::string& interfaces);

std::string to_text(const Offer& offer);
Result<Offer> parse_offer(std::string_view text);

}  // namespace weft::base
