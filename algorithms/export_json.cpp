// A schedule as JSON, version 1, both ways. Spans are ["out", slot, first, count]; what has its usual value is left
// out.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>

#include "algorithms/export.hpp"
#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "base/limits.hpp"

namespace weft::algorithms {
namespace {

using base::JsonObject;
using base::JsonValue;
using base::JsonWriter;

constexpr int kScheduleSchema = 1;
// What is accepted from a file; far above what is built, far below what would exhaust memory before a limit is found.
constexpr std::int64_t kMaxChannels = 1024;
constexpr std::int64_t kMaxChunksPerBlock = 1 << 24;
constexpr std::size_t kMaxSteps = std::size_t{1} << 24;
constexpr std::size_t kMaxSlots = std::size_t{1} << 20;
constexpr std::int64_t kMaxInt = std::numeric_limits<std::int32_t>::max();

constexpr std::array kKinds = {StepKind::Send,   StepKind::Recv, StepKind::RecvReduce, StepKind::Copy,
                               StepKind::Reduce, StepKind::Wait, StepKind::RecvSend,   StepKind::RecvReduceSend};
constexpr std::array kSpaces = {Space::Input, Space::Output, Space::Scratch};

// Writing -------------------------------------------------------------------------------------------------------------

void write_span(JsonWriter& json, std::string_view name, const Span& span) {
  if (span == Span()) return;
  json.begin_list(name);
  json.value(to_string(span.space));
  for (const std::int32_t number : {span.slot, span.first, span.count}) json.value(number);
  json.end_list();
}

void write_number(JsonWriter& json, std::string_view name, std::int32_t value) {
  if (value != -1) json.member(name, value);
}

void write_step(JsonWriter& json, const Step& step) {
  json.begin_object();
  json.member("kind", to_string(step.kind));
  write_number(json, "peer", step.peer);
  write_number(json, "to", step.to);
  write_number(json, "wait", step.wait);
  write_span(json, "dst", step.dst);
  write_span(json, "src", step.src);
  write_span(json, "src2", step.src2);
  write_span(json, "landing", step.landing);
  if (step.final_reduction) json.member("final", true);
  json.end_object();
}

void write_rank(JsonWriter& json, const RankProgram& rank) {
  json.begin_object(JsonWriter::Layout::Lines);
  json.member("in_place", rank.in_place);
  json.begin_list("scratch");
  for (const ScratchSlot& slot : rank.scratch) json.value(slot.chunks);
  json.end_list();
  json.begin_list("channels", JsonWriter::Layout::Lines);
  for (const std::vector<Step>& steps : rank.channels) {
    json.begin_list(JsonWriter::Layout::Lines);
    for (const Step& step : steps) write_step(json, step);
    json.end_list();
  }
  json.end_list();
  json.end_object();
}

// Reading -------------------------------------------------------------------------------------------------------------

template <typename Enums>
auto parse_one_of(const Enums& all) {
  return [&all](std::string_view name) -> std::optional<typename Enums::value_type> {
    for (const auto one : all)
      if (to_string(one) == name) return one;
    return std::nullopt;
  };
}

Status read_hash(const JsonValue& value, std::uint64_t& hash) {
  std::string text;
  WEFT_TRY(value.read(text));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  const bool whole = text.size() == 16 && error == std::errc() && end == text.data() + text.size();
  return whole ? Status() : value.wrong("is not 16 hexadecimal digits");
}

Status read_span(const JsonValue& value, Span& span) {
  if (!value.check_list(4).ok() || value.size() != 4) return value.wrong("is not [space, slot, first, count]");
  WEFT_TRY(value.element(0).read_name(span.space, parse_one_of(kSpaces), "in, out or scratch"));
  // Input and Output are one piece of memory each.
  WEFT_TRY(value.element(1).read(span.slot, 0, span.space == Space::Scratch ? kMaxInt : 0));
  WEFT_TRY(value.element(2).read(span.first, 0, kMaxInt));
  return value.element(3).read(span.count, 0, kMaxInt);
}

class ScheduleReader {
 public:
  Result<Schedule> read(const JsonValue& document) {
    JsonObject root(document);
    root.required("schema", schema_, kScheduleSchema, kScheduleSchema);
    root.required("algorithm", schedule_.algorithm);
    root.required_by("collective", [&](const JsonValue& value) {
      return value.read_name(schedule_.collective, parse_collective, "the name of a collective");
    });
    root.required("size", schedule_.size, 1, base::kMaxRanks);
    root.required("root", schedule_.root, 0, schedule_.size - 1);
    root.required("channels", schedule_.channels, 1, kMaxChannels);
    root.required_by("chunks_per_block", [&](const JsonValue& value) { return read_chunks_per_block(value); });
    root.optional("uneven", schedule_.uneven);
    root.required_by("program_hash", [&](const JsonValue& value) { return read_hash(value, schedule_.program_hash); });
    root.required_by("ranks", [&](const JsonValue& value) { return read_ranks(value); });
    WEFT_TRY(root.finish());
    return std::move(schedule_);
  }

 private:
  Status read_chunks_per_block(const JsonValue& value) {
    WEFT_TRY(value.read(schedule_.chunks_per_block, 1, kMaxChunksPerBlock));
    const std::int64_t size = schedule_.size;
    const std::int64_t blocks = schedule_.collective == Collective::AllToAll ? size * size : size;
    if (blocks * schedule_.chunks_per_block > kMaxInt) return value.wrong("is more than can be numbered");
    chunks_ = layout_of(schedule_).chunks();
    return {};
  }

  Status read_ranks(const JsonValue& value) {
    WEFT_TRY(value.check_list(base::kMaxRanks));
    if (value.size() != static_cast<std::size_t>(schedule_.size))
      return value.wrong(fmt::format("has {} entries for {} ranks", value.size(), schedule_.size));
    return value.read_list(base::kMaxRanks,
                           [&](const JsonValue& rank) { return read_rank(rank, schedule_.ranks.emplace_back()); });
  }

  Status read_rank(const JsonValue& value, RankProgram& rank) {
    JsonObject object(value);
    object.required("in_place", rank.in_place);
    object.required_by("scratch", [&](const JsonValue& slots) {
      return slots.read_list(kMaxSlots,
                             [&](const JsonValue& slot) { return read_slot(slot, rank.scratch.emplace_back()); });
    });
    object.required_by("channels", [&](const JsonValue& channels) {
      return channels.read_list(static_cast<std::size_t>(schedule_.channels), [&](const JsonValue& steps) {
        return read_steps(steps, rank.channels.emplace_back());
      });
    });
    return object.finish();
  }

  Status read_slot(const JsonValue& value, ScratchSlot& slot) const {
    return value.read_list(
        kMaxSteps, [&](const JsonValue& chunk) { return chunk.read(slot.chunks.emplace_back(), 0, chunks_ - 1); });
  }

  Status read_steps(const JsonValue& value, std::vector<Step>& steps) const {
    return value.read_list(kMaxSteps, [&](const JsonValue& step) { return read_step(step, steps.emplace_back()); });
  }

  Status read_step(const JsonValue& value, Step& step) const {
    const std::int64_t last_rank = schedule_.size - 1;
    JsonObject object(value);
    object.required_by("kind", [&](const JsonValue& kind) {
      return kind.read_name(step.kind, parse_one_of(kKinds), "the name of a step");
    });
    object.optional("peer", step.peer, 0, last_rank);
    object.optional("to", step.to, 0, last_rank);
    object.optional("wait", step.wait, 0, kMaxInt);
    for (const auto& [name, span] :
         {std::pair("dst", &step.dst), {"src", &step.src}, {"src2", &step.src2}, {"landing", &step.landing}})
      object.optional_by(name, [span = span](const JsonValue& parts) { return read_span(parts, *span); });
    object.optional("final", step.final_reduction);
    return object.finish();
  }

  Schedule schedule_;
  int schema_ = 0;
  std::int64_t chunks_ = 0;
};

}  // namespace

std::string to_json(const Schedule& schedule) {
  JsonWriter json;
  json.begin_object(JsonWriter::Layout::Lines);
  json.member("schema", kScheduleSchema);
  json.member("algorithm", schedule.algorithm);
  json.member("collective", to_string(schedule.collective));
  json.member("size", schedule.size);
  json.member("root", schedule.root);
  json.member("channels", schedule.channels);
  json.member("chunks_per_block", schedule.chunks_per_block);
  if (schedule.uneven) json.member("uneven", true);
  json.member("program_hash", fmt::format("{:016x}", schedule.program_hash));
  json.begin_list("ranks", JsonWriter::Layout::Lines);
  for (const RankProgram& rank : schedule.ranks) write_rank(json, rank);
  json.end_list();
  json.end_object();
  return std::move(json).text();
}

Result<Schedule> schedule_from_json(std::string_view text) {
  WEFT_TRY_ASSIGN(const base::JsonDocument document, base::JsonDocument::parse("schedule JSON", text));
  return ScheduleReader().read(document.root());
}

}  // namespace weft::algorithms
