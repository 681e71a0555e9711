// The reasons for which a rank is not taken in, in the order in which they are looked for.
#include "transports/store/admission.hpp"

#include <fmt/format.h>

#include "base/assert.hpp"
#include "transports/store/printable.hpp"

namespace weft::transports {

std::optional<Refusal> why_refused(const Hello& hello, const Hello& rank_0, const Board& board, const Hello* holder) {
  if (hello.job != rank_0.job) {
    return Refusal{.reason = fmt::format("this is job '{}', not '{}'", printable(rank_0.job), printable(hello.job))};
  }
  if (hello.size != rank_0.size) {
    return Refusal{
        .reason = fmt::format("rank 0 was started for {} ranks, rank {} for {}: all ranks need the same size",
                              rank_0.size, hello.rank, hello.size),
        .final = true};
  }
  if (hello.rank == 0) {
    return Refusal{.reason = "rank 0 is here already: two processes were started as rank 0", .final = true};
  }
  switch (board.member(hello.rank)) {
    case Board::Member::Absent:
      return {};
    case Board::Member::Dead:
      return Refusal{.reason = fmt::format("rank {} of job '{}' has died; a restarted job needs another job id",
                                           hello.rank, printable(rank_0.job)),
                     .final = true};
    case Board::Member::Left:
      return Refusal{.reason = fmt::format("rank {} has left this store, which is about to end", hello.rank)};
    case Board::Member::Here:
      break;
  }
  WEFT_ASSERT(holder != nullptr);
  // A process may make one communicator after the other; its next store has another port.
  return Refusal{.reason = fmt::format("rank {} is here already: {} (this is {})", hello.rank,
                                       printable(holder->process), printable(hello.process)),
                 .final = holder->process != hello.process};
}

}  // namespace weft::transports
