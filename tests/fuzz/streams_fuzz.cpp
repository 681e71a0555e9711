// Fuzz target: any bytes as what ranks tell each other about streams between hosts: messages, where a TCP receiver
// listens, where an end of RDMA is. What is understood is written as it was read; all else is refused.
//
// With libFuzzer: tools/fuzz streams. Without it, topology.streams_fuzz_test runs seeds and seeded mutations through
// it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tools/topo-probe/stream_message.hpp"
#include "tools/weft-vendor/rdma_point.hpp"
#include "topology/measure/tcp.hpp"

namespace {

// A property that does not hold ends the process: that is what fuzzers look for.
void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string text(reinterpret_cast<const char*>(data), bytes);
  if (const auto message = weft::topo_probe::parse_stream_message(text)) {
    const std::string written = to_text(*message);
    const auto again = weft::topo_probe::parse_stream_message(written);
    require(again && again->word == message->word && again->number == message->number && again->rest == message->rest);
  }
  if (const auto point = weft::vendor::parse_rdma_point(text)) require(to_text(*point) == text);
  if (const auto point = weft::topology::parse_meeting_point(text)) {
    const auto again = weft::topology::parse_meeting_point(to_text(*point));
    require(again && *again == *point);
  }
  return 0;
}
