// Build: what ranks must have in common before anything else that they say is understood. The first line of a rank's
// facts, whose form no version changes:
//
//   weft 1 0.1.0 algorithms=8c0f2a41 byte-order=little
//   |    | |     features: what both sides must have alike to make the same choices from the same data
//   |    | version, for people
//   |    protocol
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weft/status.hpp"

namespace weft::comm {

// Changes with whatever ranks tell each other or decide alike: facts, agreement, control messages, call codes, plan
// hashes, how messages are cut, what lanes mean.
inline constexpr int kProtocol = 1;

struct Build {
  int protocol = 0;
  std::string version;
  std::map<std::string, std::string> features;

  bool operator==(const Build&) const = default;
};

Build own_build();
std::string to_line(const Build& build);  // with the end of the line
// Nothing if the text does not begin with such a line; else takes it off.
bool take_build(std::string_view* text, Build* build);

// The ranks' texts without their first lines. Unsupported, with Status::peer(), names the first rank whose build is not
// that of rank 0, and both builds.
Result<std::vector<std::string>> of_one_build(const std::vector<std::string>& texts);

}  // namespace weft::comm
