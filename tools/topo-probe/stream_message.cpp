// Four words, of which the last one is the rest of the line.
#include "stream_message.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse.hpp"
#include "topology/sources.hpp"
#include "topology/text.hpp"

namespace weft::topo_probe {
namespace {

std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

}  // namespace

std::string to_text(const StreamMessage& message) {
  return fmt::format("{} {} {}{}{}", message.kind, message.word, message.number, message.rest.empty() ? "" : " ",
                     message.rest);
}

std::optional<StreamMessage> parse_stream_message(std::string_view text) {
  StreamMessage message;
  message.kind = take_word(text);
  message.word = take_word(text);
  const std::optional<int> number = topology::parse_whole<int>(take_word(text));
  if ((message.kind != topology::kTcp && message.kind != topology::kRdma) || message.word.empty() || !number)
    return std::nullopt;
  message.number = *number;
  message.rest = text;
  return message;
}

}  // namespace weft::topo_probe
