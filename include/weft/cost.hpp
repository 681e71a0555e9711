// Cost: what a communicator takes of memory, descriptors and threads. docs/groups.md has a table.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

struct Cost {
  // Of the communicator alone; 0 of what was not needed yet.
  std::uint64_t group_bytes = 0;    // its ranks, its latest calls, its places in tables: what an unused group costs
  std::uint64_t plan_bytes = 0;     // calls that it knows and their plans
  std::uint64_t scratch_bytes = 0;  // where algorithms keep what is on its way
  std::uint64_t lane_bytes = 0;     // set aside by transports for its lanes; untouched pages take no memory
  int lanes = 0;        // open here: one for each peer and channel that a plan uses, and for each peer of messages
  int descriptors = 0;  // the event descriptor, if it was asked for
  int threads = 0;

  // Of this process for all communicators that were split from the same one, however many they are.
  struct Shared {
    int communicators = 0;          // that live now
    std::uint64_t model_bytes = 0;  // cost models by which algorithms are chosen: one for each set of places
    int connections = 0;            // to other ranks, made on first use
    int descriptors = 0;            // of these, of the meeting of the ranks, and of the transports
    int threads = 0;

    bool operator==(const Shared&) const = default;
  };
  Shared shared;

  std::uint64_t bytes() const { return group_bytes + plan_bytes + scratch_bytes + lane_bytes; }
  // One line of text for people.
  std::string to_string() const;

  bool operator==(const Cost&) const = default;
};

}  // namespace weft
