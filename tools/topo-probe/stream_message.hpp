// What rank 0 and the ends of a stream tell each other: "tcp at 17 10.0.0.1 40123 8237462". Every stream has a number
// of its own, so that a late answer is not taken for one about another stream.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft::topo_probe {

struct StreamMessage {
  std::string_view kind;  // "tcp" or "rdma"
  std::string_view word;  // "listen", "at", "send", ...
  int number = 0;
  std::string_view rest;  // may be empty
};

std::string to_text(const StreamMessage& message);
// Of `text`, which must outlive it; nothing if the text is about no stream.
std::optional<StreamMessage> parse_stream_message(std::string_view text);

}  // namespace weft::topo_probe
