// A word of one rank that others wait for in the store: a value, or the error that all of them shall end with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "transports/store/store.hpp"
#include "weft/status.hpp"

namespace weft::comm {

// The error with the rank that is to blame, if it does not name one yet.
Status blamed_on(int rank, const Status& error);

// A value that the store does not take becomes the store's error. Not OK only if not even that can be said.
Status publish(transports::Store& store, std::string_view key, const Result<std::string>& word);

// The value, or the published error as it was: code, message and Status::peer(). Timeout, PeerLost and the like if
// there is no word.
Result<std::string> published(transports::Store& store, std::string_view key, base::Deadline deadline);

// The words of all ranks under `key(rank)`, by rank; they are removed from the store. The error of the first rank that
// has none.
Result<std::vector<std::string>> collect(transports::Store& store, std::string (*key)(int rank),
                                         base::Deadline deadline);

}  // namespace weft::comm
