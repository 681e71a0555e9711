// Hello: how a rank and the server find out that they belong together, before the rank becomes a member.
//
//   rank                                   server
//   Hello {job, size, process, rank}  -->  Refused {why}, and whether another port may be the right one
//                                     <--  or Welcome
//   Join                              -->  now a member
//                                     <--  Done, or Refused (another was quicker)
//
// In two steps, because a rank that is not answered at once gives up and looks elsewhere: only the second step, which
// is taken on a connection that has proved itself, makes the later end of that connection a death.
#pragma once

#include <string>

#include "transports/store/frame.hpp"
#include "weft/options.hpp"
#include "weft/status.hpp"

namespace weft::transports {

inline constexpr std::size_t kMaxJobBytes = 512;

struct Hello {
  std::string job;
  int size = 0;
  int rank = 0;
  std::string process;  // "process 4711 on node3": tells a second process of the same rank from the first

  bool operator==(const Hello&) const = default;
};

Hello make_hello(const Options& options);
Frame to_frame(const Hello& hello);
Result<Hello> parse_hello(const Frame& frame);

// What a Refused frame says.
struct Refusal {
  std::string reason;
  bool final = false;  // no other port can be the right one
};
Frame to_frame(const Refusal& refusal);

}  // namespace weft::transports
