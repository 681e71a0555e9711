// What a file must be to be a candidate: small enough to be proved soon, right in place and out of place, and named so
// that rules can name it.
#include "algorithms/loaded_schedules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "algorithms/alias.hpp"
#include "algorithms/export.hpp"
#include "algorithms/machine.hpp"
#include "algorithms/verify.hpp"
#include "base/fnv1a.hpp"
#include "base/limits.hpp"
#include "base/plural.hpp"
#include "topology/read_file.hpp"
#include "weft/operation.hpp"

namespace weft::algorithms {
namespace {

constexpr std::size_t kMaxFiles = 64;
constexpr std::size_t kMaxBytes = std::size_t{16} << 20;  // of all files: they travel to all ranks
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxLanes = 4096;                     // of a rank
constexpr std::int64_t kMaxPieces = std::int64_t{1} << 22;  // of memory, of all ranks
constexpr std::int64_t kMaxMoves = std::int64_t{1} << 24;   // of pieces, by all steps of all ranks

Status corrupt(std::string what) { return Status(Code::Corrupt, std::move(what)); }

Status check_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (!name.empty() && name.size() <= kMaxNameBytes && std::all_of(name.begin(), name.end(), plain)) return {};
  return corrupt(
      fmt::format("the algorithm's name must be 1 to {} letters, digits, _ or -, for rules to name it", kMaxNameBytes));
}

// What the proof, the transports and the engine can bear; the reader has checked that numbers are in range.
Status check_size(const Schedule& schedule) {
  if (schedule.channels > base::kMaxChannels)
    return corrupt(fmt::format("it has {} channels; at most {} can run", schedule.channels, base::kMaxChannels));
  const Layout layout = layout_of(schedule);
  std::int64_t pieces = layout.chunks();
  std::int64_t moves = 0;
  for (int rank = 0; rank < schedule.size; ++rank) {
    const RankProgram& program = schedule.ranks[static_cast<std::size_t>(rank)];
    pieces += std::int64_t{layout.input_chunks(rank)} + layout.output_chunks(rank);
    for (const ScratchSlot& slot : program.scratch) pieces += static_cast<std::int64_t>(slot.chunks.size());
    std::set<std::pair<std::size_t, int>> lanes;
    for (std::size_t channel = 0; channel < program.channels.size(); ++channel) {
      for (const Step& step : program.channels[channel]) {
        moves += 1 + std::int64_t{step.dst.count} + step.src.count + step.src2.count + step.landing.count;
        for (const int peer : {step.peer, step.to})
          if (peer >= 0) lanes.emplace(channel, peer);
      }
    }
    if (lanes.size() > kMaxLanes)
      return corrupt(fmt::format("rank {} has {} peers, counted on each channel; at most {} can be connected", rank,
                                 lanes.size(), kMaxLanes));
    if (pieces > kMaxPieces)
      return corrupt(fmt::format("the ranks have more than {} pieces of memory, too many to prove", kMaxPieces));
    if (moves > kMaxMoves)
      return corrupt(fmt::format("the steps move more than {} pieces, too many to prove", kMaxMoves));
  }
  return {};
}

bool has_v_variant(Collective collective) {
  return collective == Collective::AllGather || collective == Collective::ReduceScatter ||
         collective == Collective::AllToAll || collective == Collective::Gather || collective == Collective::Scatter;
}

// Whether each rank handles such blocks only whose lengths it knows in a v-variant.
bool knows_its_blocks(const Schedule& schedule) {
  const auto knows = [&](int rank, int block) {
    if (schedule.collective == Collective::AllToAll)
      return block / schedule.size == rank || block % schedule.size == rank;
    return !has_root(schedule.collective) || rank == schedule.root || block == rank;
  };
  for (int rank = 0; rank < schedule.size; ++rank)
    for (const ScratchSlot& slot : schedule.ranks[static_cast<std::size_t>(rank)].scratch)
      for (const int chunk : slot.chunks)
        if (!knows(rank, chunk / schedule.chunks_per_block)) return false;
  return true;
}

Result<LoadedSchedule> prove(Schedule schedule) {
  WEFT_TRY(check_name(schedule.algorithm));
  WEFT_TRY(check_size(schedule));
  VerifyOptions options;
  WEFT_TRY(verify(schedule, options));
  // Of what is in the file, all of it: whoever changed a step need not make up a hash.
  schedule.program_hash = base::fnv1a(to_json(schedule));
  LoadedSchedule loaded;
  for (const bool in_place : {false, true}) {
    Schedule& version = in_place ? loaded.in_place : loaded.out_of_place;
    version = with_aliasing(schedule, in_place);
    if (Status proof = verify(version, options); !proof.ok())
      return std::move(proof).with_context(
          fmt::format("calls {} place cannot be served, with the copies that they need as first steps",
                      in_place ? "in" : "out of"));
  }
  const auto uneven = [&options](Schedule version) {
    version.uneven = true;
    return verify(version, options).ok();
  };
  const bool fits_parts = schedule.uneven || (uneven(loaded.out_of_place) && uneven(loaded.in_place));
  loaded.out_of_place.uneven = loaded.in_place.uneven = fits_parts;
  loaded.v_variants = fits_parts && has_v_variant(schedule.collective) && knows_its_blocks(schedule);
  options.canonical = true;
  loaded.invariant = !reduces(schedule.collective) || verify(loaded.out_of_place, options).ok();
  loaded.name = std::string(kLoadedPrefix) + schedule.algorithm;
  return loaded;
}

auto order(const LoadedSchedule& schedule) {
  return std::make_tuple(schedule.collective(), std::string_view(schedule.name), schedule.size(),
                         has_root(schedule.collective()) ? schedule.root() : 0);
}

}  // namespace

Result<std::vector<ScheduleText>> read_schedule_files(const std::vector<std::string>& files) {
  if (files.size() > kMaxFiles)
    return Status(Code::InvalidArgument, fmt::format("{} schedule files are more than {}", files.size(), kMaxFiles));
  std::vector<ScheduleText> texts;
  std::size_t room = kMaxBytes;
  for (const std::string& file : files) {
    const auto same = [&](const ScheduleText& text) { return text.file == file; };
    if (std::any_of(texts.begin(), texts.end(), same))
      return Status(Code::InvalidArgument, fmt::format("{} is named twice", file));
    WEFT_TRY_ASSIGN(std::string text, topology::read_file(file, room));
    room -= text.size();
    texts.push_back({file, std::move(text)});
  }
  return texts;
}

std::string LoadedSchedule::unsupported(int ranks, const Request& request) const {
  if (ranks != size()) return fmt::format("is for {}", base::plural(static_cast<std::uint64_t>(size()), "rank"));
  if (has_root(collective()) && request.root != root()) return fmt::format("is for root {}", root());
  if (request.uneven && !v_variants) return "was not proved for blocks of unequal lengths";
  if (request.numerics == Numerics::Invariant && !invariant)
    return "reduces in another order than Numerics::Invariant asks for";
  return "";
}

std::string LoadedSchedule::to_string() const {
  std::string text = fmt::format("{}/{}: {}, ", weft::to_string(collective()), name,
                                 base::plural(static_cast<std::uint64_t>(size()), "rank"));
  if (has_root(collective())) text += fmt::format("root {}, ", root());
  text += base::plural(static_cast<std::uint64_t>(channels()), "channel");
  if (!out_of_place.uneven) text += ", long calls in one pass";
  if (v_variants) text += ", v-variants";
  if (reduces(collective()) && invariant) text += ", invariant";
  return text + fmt::format("; from {}", file);
}

Result<LoadedSchedule> load_schedule(const ScheduleText& text) {
  Result<Schedule> schedule = schedule_from_json(text.text);
  if (!schedule) return std::move(schedule).error().with_context(text.file);
  const std::string what =
      fmt::format("{}: {}/{} on {}", text.file, to_string(schedule->collective), schedule->algorithm,
                  base::plural(static_cast<std::uint64_t>(schedule->size), "rank"));
  Result<LoadedSchedule> loaded = prove(std::move(*schedule));
  if (!loaded) return std::move(loaded).error().with_context(what);
  loaded->file = text.file;
  return loaded;
}

Result<LoadedSchedules> LoadedSchedules::load(const std::vector<ScheduleText>& texts) {
  LoadedSchedules result;
  for (const ScheduleText& text : texts) {
    WEFT_TRY_ASSIGN(LoadedSchedule loaded, load_schedule(text));
    result.schedules_.push_back(std::move(loaded));
  }
  std::vector<LoadedSchedule>& all = result.schedules_;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return order(a) < order(b); });
  const auto twins =
      std::adjacent_find(all.begin(), all.end(), [](const auto& a, const auto& b) { return order(a) == order(b); });
  if (twins == all.end()) return result;
  return Status(Code::InvalidArgument,
                fmt::format("{} and {} both hold {}/{} for {}; change the \"algorithm\" of one of them", twins->file,
                            std::next(twins)->file, to_string(twins->collective()), twins->out_of_place.algorithm,
                            base::plural(static_cast<std::uint64_t>(twins->size()), "rank")));
}

const LoadedSchedule* LoadedSchedules::named(Collective collective, std::string_view name, int channels) const {
  for (const LoadedSchedule& schedule : schedules_)
    if (schedule.collective() == collective && schedule.name == name &&
        (channels == 0 || schedule.channels() == channels))
      return &schedule;
  return nullptr;
}

const LoadedSchedule* LoadedSchedules::find(Collective collective, std::string_view name, int size, int root) const {
  for (const LoadedSchedule& schedule : schedules_)
    if (schedule.collective() == collective && schedule.name == name && schedule.size() == size &&
        (!has_root(collective) || schedule.root() == root))
      return &schedule;
  return nullptr;
}

}  // namespace weft::algorithms
