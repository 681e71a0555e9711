// The form: "+value", or "-code peer message".
#include "comm/publish.hpp"

#include <fmt/format.h>

#include "base/parse.hpp"

namespace weft::comm {
namespace {

constexpr char kGood = '+';
constexpr char kBad = '-';
constexpr auto kLastCode = Code::Internal;

std::string encode(const Status& error) {
  return fmt::format("{}{} {} {}", kBad, static_cast<int>(error.code()), error.peer(), error.message());
}

std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

Status decode(std::string_view text) {
  const auto code = base::parse_integer(next_word(text));
  const auto peer = base::parse_integer(next_word(text));
  if (!code || !peer || *code <= 0 || *code > static_cast<int>(kLastCode))
    return Status(Code::Corrupt, "an error that another rank published cannot be read; run the same Weft on all ranks");
  return Status(static_cast<Code>(*code), std::string(text), *peer);
}

}  // namespace

Status blamed_on(int rank, const Status& error) {
  if (error.ok() || error.peer() >= 0) return error;
  return Status(error.code(), fmt::format("rank {}: {}", rank, error.message()), rank);
}

Status publish(transports::Store& store, std::string_view key, const Result<std::string>& word) {
  if (!word.has_value()) return store.set(key, encode(word.error()));
  const Status set = store.set(key, kGood + *word);
  return set.ok() ? set : store.set(key, encode(blamed_on(store.rank(), set)));
}

Result<std::string> published(transports::Store& store, std::string_view key, base::Deadline deadline) {
  Result<std::string> word = store.get(key, deadline.remaining_ms());
  if (!word.has_value()) return word;
  if (word->starts_with(kGood)) return word->substr(1);
  if (word->starts_with(kBad)) return decode(std::string_view(*word).substr(1));
  return Status(Code::Corrupt, fmt::format("key '{}' of the store holds what no rank of this Weft wrote", key));
}

Result<std::vector<std::string>> collect(transports::Store& store, std::string (*key)(int rank),
                                         base::Deadline deadline) {
  std::vector<std::string> words;
  for (int rank = 0; rank < store.size(); ++rank) {
    Result<std::string> word = published(store, key(rank), deadline);
    if (!word.has_value()) return blamed_on(rank, word.error());
    words.push_back(std::move(*word));
    WEFT_TRY(store.remove(key(rank)));
  }
  return words;
}

}  // namespace weft::comm
