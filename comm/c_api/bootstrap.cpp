// Ids and records of the all_gather: texts with a prefix that names their version.
#include "comm/c_api/bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/limits.hpp"

namespace weft::comm::c_api {
namespace {

constexpr std::string_view kIdPrefix = "weft-1 ";
// The port that was free when the offer was made may be taken when rank 0 listens.
constexpr int kPortTries = 16;

Status bad(std::string text) { return Status(Code::InvalidArgument, std::move(text)); }

// What a rank gives to the caller's all_gather.
struct Record {
  std::array<char, 8> mark;
  std::int32_t rank;
  std::int32_t nranks;
  std::int32_t code;  // of rank 0's offer; not 0: the text says why there is none
  std::array<char, WEFT_UNIQUE_ID_BYTES> text;
};
constexpr std::array<char, 8> kRecordMark = {'w', 'e', 'f', 't', 'm', 'e', 'e', '1'};

std::string_view text_in(const char* bytes, std::size_t size) {
  return {bytes, static_cast<std::size_t>(std::find(bytes, bytes + size, '\0') - bytes)};
}

Record record_of(const Gathering& gathering, const std::string& interface) {
  Record record{.mark = kRecordMark, .rank = gathering.rank, .nranks = gathering.nranks, .code = 0, .text = {}};
  if (gathering.rank != 0) return record;
  const Result<base::Offer> offer = base::make_offer(interface);
  const std::string text = offer.has_value() ? to_text(*offer) : std::string(offer.error().message());
  if (!offer.has_value()) record.code = static_cast<std::int32_t>(offer.error().code());
  std::copy_n(text.begin(), std::min(text.size(), record.text.size() - 1), record.text.begin());
  return record;
}

Status check_record(const Record& record, int at, const Gathering& gathering) {
  const auto wrong = [&](std::string text) { return Status(Code::Mismatch, fmt::format("all_gather: {}", text), at); };
  if (record.mark != kRecordMark) {
    return wrong(
        fmt::format("block {} of `all` is not what a rank of this version of Weft gave; it must hold the "
                    "{} bytes of `mine` of that rank, and all ranks run the same Weft",
                    at, sizeof record));
  }
  if (record.rank != at)
    return wrong(fmt::format("block {} of `all` is from rank {}; blocks stand in the order of ranks", at, record.rank));
  if (record.nranks != gathering.nranks)
    return wrong(fmt::format("rank {} was given {} ranks, rank {} {}: all ranks need the same nranks", gathering.rank,
                             gathering.nranks, at, record.nranks));
  return {};
}

}  // namespace

Status check_ranks(int nranks, int rank) {
  if (nranks < 1 || nranks > base::kMaxRanks)
    return bad(fmt::format("nranks is {}; give 1 to {}, the same on all ranks", nranks, base::kMaxRanks));
  if (rank < 0 || rank >= nranks)
    return bad(fmt::format("rank is {}; of {} ranks they are 0 to {}", rank, nranks, nranks - 1));
  return {};
}

Result<weft_unique_id_t> make_id(const std::string& interface) {
  WEFT_TRY_ASSIGN(const base::Offer offer, base::make_offer(interface));
  const std::string text = std::string(kIdPrefix) + to_text(offer);
  weft_unique_id_t id{};
  if (text.size() >= sizeof id.internal) {
    return Status(Code::Unsupported, fmt::format("the addresses of this host take {} bytes, an id has {}; set "
                                                 "WEFT_INTERFACE to one interface",
                                                 text.size(), sizeof id.internal));
  }
  std::ranges::copy(text, id.internal);
  return id;
}

Result<base::Offer> read_id(const weft_unique_id_t& id) {
  std::string_view text = text_in(id.internal, sizeof id.internal);
  if (!text.starts_with(kIdPrefix)) {
    return bad(
        "id was not made by weft_get_unique_id() of this version; call it at one rank, and give all ranks all of its "
        "bytes");
  }
  text.remove_prefix(kIdPrefix.size());
  auto offer = base::parse_offer(text);
  if (!offer.has_value()) return bad("id is damaged; give all ranks all bytes that weft_get_unique_id() wrote");
  return offer;
}

Result<base::Offer> gather_offer(const Gathering& gathering, const std::string& interface) {
  const Record mine = record_of(gathering, interface);
  std::vector<Record> all(static_cast<std::size_t>(gathering.nranks));
  if (const int failure = gathering.all_gather(gathering.context, &mine, all.data(), sizeof mine); failure != 0)
    return Status(Code::SystemError, fmt::format("all_gather returned {} on rank {}", failure, gathering.rank));
  for (int rank = 0; rank < gathering.nranks; ++rank)
    WEFT_TRY(check_record(all[static_cast<std::size_t>(rank)], rank, gathering));
  const Record& first = all.front();
  const std::string text(text_in(first.text.data(), first.text.size()));
  if (first.code != 0) {
    const bool known = first.code > 0 && first.code <= static_cast<std::int32_t>(Code::Internal);
    return Status(known ? static_cast<Code>(first.code) : Code::Corrupt, "rank 0: " + text, 0);
  }
  return base::parse_offer(text);
}

void meet_at(const base::Offer& offer, int nranks, int rank, Options& options) {
  options.rank = rank;
  options.size = nranks;
  options.rendezvous_host = offer.hosts;
  options.rendezvous_port = offer.port;
  options.port_tries = kPortTries;
  options.job_id = offer.job;
  options.source = "explicit";
}

}  // namespace weft::comm::c_api
