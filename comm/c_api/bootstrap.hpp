// How ranks that no launcher started find rank 0: by an id that the program hands out, or by its own all_gather.
#pragma once

#include <string>

#include "base/launch/offer.hpp"
#include "weft/options.hpp"
#include "weft/weft.h"

namespace weft::comm::c_api {

// InvalidArgument names what is wrong with nranks or rank.
Status check_ranks(int nranks, int rank);

Result<weft_unique_id_t> make_id(const std::string& interface);
// InvalidArgument where it is none, or one of another version.
Result<base::Offer> read_id(const weft_unique_id_t& id);

struct Gathering {
  int nranks;
  int rank;
  weft_all_gather_callback_t all_gather;
  void* context;
};
// Rank 0's offer, brought to all by the caller's all_gather.
Result<base::Offer> gather_offer(const Gathering& gathering, const std::string& interface);

// Meets there, as rank `rank` of `nranks`.
void meet_at(const base::Offer& offer, int nranks, int rank, Options& options);

}  // namespace weft::comm::c_api
