// Board: what a store knows (keys, who waits for which, who is here, gone or dead) and how it answers. Pure: no socket,
// no thread, no clock, no lock of its own; the local hub and the TCP server both place one behind their mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "transports/store/frame.hpp"

namespace weft::transports {

class Board {
 public:
  // How an answer or a notice reaches a rank that is here. Must not call back into the board.
  using Post = std::function<void(int rank, Frame frame)>;

  enum class Member : std::uint8_t { Absent, Here, Left, Dead };

  static constexpr std::size_t kMaxStoredBytes = std::size_t{1} << 30;    // keys and values together
  static constexpr std::size_t kMaxBacklogBytes = std::size_t{64} << 20;  // messages to one rank that is not here yet

  Board(int size, Post post);

  // The rank becomes a member, and is told what it missed: deaths and messages. A rank that left may come again.
  void join(int rank);
  // A question of a rank that is here: Set, Get, Cancel, Remove, Send, Leave. Other types are Corrupt.
  Status handle(int rank, Frame&& frame);
  // Its connection ended without Leave: all who wait fail, all others are told. Nothing happens unless the rank is
  // here.
  void die(int rank);

  // Somebody was not taken in: whoever waits past a deadline for absent ranks is told of the last.
  void note_refusal(std::string reason) { last_refusal_ = std::move(reason); }

  Member member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  int size() const { return static_cast<int>(members_.size()); }
  bool all_came() const;  // no rank is Absent
  int here() const;       // how many are here

 private:
  struct Waiting {
    int rank;
    std::uint32_t request;
  };

  void set(int rank, Frame&& frame);
  void get(int rank, Frame&& frame);
  void cancel(int rank, std::uint32_t request);
  void remove(int rank, const Frame& frame);
  void send(int from, const Frame& frame);
  void send_to(int to, int from, const std::string& message);
  void forget_waits_of(int rank);
  // "3, 5", and below it the last refusal if there was one; empty if all have come.
  std::string absent_ranks() const;

  Post post_;
  std::vector<Member> members_;
  std::vector<std::vector<Frame>> backlog_;  // by rank, while Absent
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::vector<Waiting>, std::less<>> waiting_;
  std::size_t stored_bytes_ = 0;
  std::string last_refusal_;
};

}  // namespace weft::transports
