// Execution: the judge of the verifier. Runs a schedule on real memory, with ranks interleaved at random and sends that
// read their source early or late, and looks at the results. Shares no code with verify: steps, memory and chunks are
// worked out here again.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "weft/schedule.hpp"

namespace weft::test {

struct Trial {
  std::uint64_t elements = 1;  // per block
  int slots = 0;               // messages a lane takes before they are received; 0: rendezvous, -1: any number
  std::uint64_t seed = 1;
};

class Execution {
 public:
  Execution(const Schedule& schedule, const Trial& trial);
  // "" if all went well and the results are right, else what went wrong first.
  std::string run();

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  struct Message {
    int rank = 0;  // whose memory `source` is in
    Range source;
    bool read = false;
    std::vector<std::uint64_t> data;
  };
  struct Lane {
    std::deque<Message> waiting;
    std::uint64_t posted = 0;
    std::uint64_t done = 0;  // sends that no longer read their source: always the oldest ones
    int held = 0;            // read, not yet received
  };
  struct Channel {
    int rank = 0;
    int channel = 0;
    std::size_t next = 0;
    bool taken = false;
    Message message;
    std::map<std::size_t, std::pair<Lane*, std::uint64_t>> sends;  // by step: lane and number there
  };
  struct Rank {
    std::vector<std::uint64_t> memory;
    std::size_t input = 0;
    std::size_t output = 0;
    std::vector<std::size_t> slots;
    std::vector<std::uint64_t> initial_input;
  };

  void lay_out(int rank);
  std::size_t input_blocks(int rank) const;
  std::size_t output_blocks(int rank) const;
  std::size_t chunk_begin(std::size_t chunk) const;
  std::size_t chunk_size(std::size_t chunk) const { return chunk_begin(chunk + 1) - chunk_begin(chunk); }
  std::uint64_t contribution(int rank, std::uint64_t element) const;
  std::uint64_t input_value(int rank, std::size_t element) const;
  std::uint64_t combine(std::uint64_t a, std::uint64_t b, bool final_reduction) const;

  std::optional<Range> locate(int rank, const Span& span);
  bool step(Channel& channel);
  bool receive(Channel& channel, const Step& step);
  bool copy(Channel& channel, const Step& step);
  bool reduce(Channel& channel, const Step& step);
  bool send(Channel& channel, const Span& span, int to);
  bool send_done(const Channel& channel, int step);
  bool pump(Lane& lane);
  void read_source(Message& message);
  std::string check_results() const;
  bool fail(const std::string& what);
  bool coin() { return (random_() & 1) != 0; }

  const Schedule& schedule_;
  Trial trial_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  std::vector<Channel> channels_;
  std::map<std::tuple<int, int, int>, Lane> lanes_;  // from, to, channel
  std::string failure_;
};

}  // namespace weft::test
