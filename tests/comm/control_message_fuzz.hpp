// What must hold for any bytes that reach decode() and the agreement's readers: for libFuzzer
// (control_message_fuzz.cpp) and for the seeded mutations of the test.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "comm/agreement.hpp"
#include "comm/control_message.hpp"

namespace weft::comm {

// Aborts if a reader accepts bytes whose meaning it cannot write down again, or refuses them with another code than
// Corrupt.
inline void check_any_control_bytes(std::string_view bytes) {
  if (const auto message = decode(bytes); message.has_value()) {
    if (encode(*message) != bytes) std::abort();
  } else if (message.error().code() != Code::Corrupt) {
    std::abort();
  }
  if (const auto facts = rank_facts_from_json(bytes); facts.has_value()) {
    const auto again = rank_facts_from_json(to_json(*facts));
    if (!again.has_value()) std::abort();
  } else if (facts.error().code() != Code::Corrupt) {
    std::abort();
  }
  if (const auto view = rank_view_from_json(bytes); view.has_value()) {
    const auto again = rank_view_from_json(to_json(*view));
    if (!again.has_value()) std::abort();
  } else if (view.error().code() != Code::Corrupt) {
    std::abort();
  }
  if (const auto agreement = agreement_from_json(bytes); agreement.has_value()) {
    for (std::size_t rank = 0; rank < agreement->ranks.size(); ++rank) {
      static_cast<void>(agreement->transport(static_cast<int>(rank), 0));
    }
    if (place_on_cores(*agreement).size() != agreement->ranks.size()) std::abort();
  } else if (agreement.error().code() != Code::Corrupt) {
    std::abort();
  }
}

}  // namespace weft::comm
