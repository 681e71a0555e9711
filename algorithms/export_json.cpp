// A schedule as JSON, version 1, both ways. Spans are ["out", slot, first, count]; what has its usual value is left
// out.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>

#include "algorithms/export.hpp"
#include "algorithms/export_json_reader.hpp"

namespace weft::algorithms {
namespace {

using Json = nlohmann::json;

constexpr int kScheduleSchema = 1;
// What is accepted from a file; far above what is built, far below what would exhaust memory before a limit is found.
constexpr std::int64_t kMaxRanks = 1 << 16;
constexpr std::int64_t kMaxChannels = 1024;
constexpr std::int64_t kMaxChunksPerBlock = 1 << 24;
constexpr std::size_t kMaxSteps = std::size_t{1} << 24;
constexpr std::size_t kMaxSlots = std::size_t{1} << 20;
constexpr std::int64_t kMaxInt = std::numeric_limits<std::int32_t>::max();

constexpr std::array kKinds = {StepKind::Send,   StepKind::Recv, StepKind::RecvReduce, StepKind::Copy,
                               StepKind::Reduce, StepKind::Wait, StepKind::RecvSend,   StepKind::RecvReduceSend};
constexpr std::array kSpaces = {Space::None, Space::Input, Space::Output, Space::Scratch};

std::string json_text(std::string_view text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

// Writing -------------------------------------------------------------------------------------------------------------

void write_span(std::string& out, const char* name, const Span& span) {
  if (span == Span()) return;
  out += fmt::format(", \"{}\": [\"{}\", {}, {}, {}]", name, to_string(span.space), span.slot, span.first, span.count);
}

void write_number(std::string& out, const char* name, std::int32_t value) {
  if (value != -1) out += fmt::format(", \"{}\": {}", name, value);
}

void write_step(std::string& out, const Step& step) {
  out += fmt::format("{{\"kind\": \"{}\"", to_string(step.kind));
  write_number(out, "peer", step.peer);
  write_number(out, "to", step.to);
  write_number(out, "wait", step.wait);
  write_span(out, "dst", step.dst);
  write_span(out, "src", step.src);
  write_span(out, "src2", step.src2);
  write_span(out, "landing", step.landing);
  if (step.final_reduction) out += ", \"final\": true";
  out += '}';
}

template <typename List, typename Write>
void write_list(std::string& out, const List& list, std::string_view indent, Write write) {
  out += '[';
  bool first = true;
  for (const auto& element : list) {
    if (!std::exchange(first, false)) out += ',';
    if (indent.empty()) {
      if (out.back() == ',') out += ' ';
    } else {
      out += indent;
    }
    write(element);
  }
  out += ']';
}

void write_rank(std::string& out, const RankProgram& rank) {
  out += fmt::format("{{\"in_place\": {}, \"scratch\": ", rank.in_place);
  write_list(out, rank.scratch, "", [&](const ScratchSlot& slot) {
    write_list(out, slot.chunks, "", [&](std::int32_t chunk) { out += std::to_string(chunk); });
  });
  out += ", \"channels\": ";
  write_list(out, rank.channels, "\n   ", [&](const std::vector<Step>& steps) {
    write_list(out, steps, "\n    ", [&](const Step& step) { write_step(out, step); });
  });
  out += '}';
}

// Reading -------------------------------------------------------------------------------------------------------------

class ScheduleReader {
 public:
  Result<Schedule> read(const Json& root) {
    if (!reader_.members(root, "the file",
                         {"schema", "algorithm", "collective", "size", "root", "channels", "chunks_per_block",
                          "program_hash", "ranks"}))
      return reader_.status();
    reader_.integer(root["schema"], "schema", kScheduleSchema, kScheduleSchema);
    schedule_.algorithm = reader_.text(root["algorithm"], "algorithm");
    const std::optional<Collective> collective = parse_collective(reader_.text(root["collective"], "collective"));
    if (!collective) reader_.fail("collective", "is not the name of a collective");
    schedule_.collective = collective.value_or(Collective::Barrier);
    schedule_.size = number(root["size"], "size", 1, kMaxRanks);
    schedule_.root = number(root["root"], "root", 0, std::max(schedule_.size - 1, 0));
    schedule_.channels = number(root["channels"], "channels", 1, kMaxChannels);
    schedule_.chunks_per_block = number(root["chunks_per_block"], "chunks_per_block", 1, kMaxChunksPerBlock);
    schedule_.program_hash = hash(root["program_hash"]);
    if (!reader_.ok()) return reader_.status();
    const std::int64_t blocks = schedule_.collective == Collective::AllToAll
                                    ? std::int64_t{schedule_.size} * schedule_.size
                                    : std::int64_t{schedule_.size};
    if (blocks * schedule_.chunks_per_block > kMaxInt) reader_.fail("chunks_per_block", "is more than can be numbered");
    read_ranks(root["ranks"]);
    if (!reader_.ok()) return reader_.status();
    return std::move(schedule_);
  }

 private:
  std::int32_t number(const Json& value, const std::string& place, std::int64_t least, std::int64_t most) {
    return static_cast<std::int32_t>(reader_.integer(value, place, least, most));
  }

  std::uint64_t hash(const Json& value) {
    const std::string text = reader_.text(value, "program_hash");
    std::uint64_t result = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result, 16);
    if (text.size() != 16 || error != std::errc() || end != text.data() + text.size())
      reader_.fail("program_hash", "is not 16 hexadecimal digits");
    return result;
  }

  void read_ranks(const Json& value) {
    const Json& ranks = reader_.array(value, "ranks", static_cast<std::size_t>(schedule_.size));
    if (ranks.size() != static_cast<std::size_t>(schedule_.size))
      reader_.fail("ranks", fmt::format("has {} entries for {} ranks", ranks.size(), schedule_.size));
    for (std::size_t r = 0; r < ranks.size() && reader_.ok(); ++r) {
      const std::string place = fmt::format("ranks[{}]", r);
      RankProgram& rank = schedule_.ranks.emplace_back();
      if (!reader_.members(ranks[r], place, {"in_place", "scratch", "channels"})) return;
      rank.in_place = reader_.boolean(ranks[r]["in_place"], place + ".in_place");
      read_scratch(ranks[r]["scratch"], place + ".scratch", rank);
      const Json& channels =
          reader_.array(ranks[r]["channels"], place + ".channels", static_cast<std::size_t>(schedule_.channels));
      for (std::size_t c = 0; c < channels.size() && reader_.ok(); ++c)
        read_steps(channels[c], fmt::format("{}.channels[{}]", place, c), rank.channels.emplace_back());
    }
  }

  void read_scratch(const Json& value, const std::string& place, RankProgram& rank) {
    const std::int64_t chunks = layout_of(schedule_).chunks();
    for (const Json& slot : reader_.array(value, place, kMaxSlots)) {
      const std::string slot_place = fmt::format("{}[{}]", place, rank.scratch.size());
      ScratchSlot& result = rank.scratch.emplace_back();
      for (const Json& chunk : reader_.array(slot, slot_place, kMaxSteps))
        result.chunks.push_back(number(chunk, slot_place, 0, chunks - 1));
      if (!reader_.ok()) return;
    }
  }

  void read_steps(const Json& value, const std::string& place, std::vector<Step>& steps) {
    const Json& list = reader_.array(value, place, kMaxSteps);
    for (std::size_t i = 0; i < list.size() && reader_.ok(); ++i)
      steps.push_back(read_step(list[i], fmt::format("{}[{}]", place, i)));
  }

  Step read_step(const Json& value, const std::string& place) {
    Step step;
    if (!reader_.members(value, place, {"kind"}, {"peer", "to", "wait", "dst", "src", "src2", "landing", "final"}))
      return step;
    step.kind = named(value["kind"], place + ".kind", kKinds, "the name of a step");
    const std::int64_t last_rank = schedule_.size - 1;
    if (value.contains("peer")) step.peer = number(value["peer"], place + ".peer", 0, last_rank);
    if (value.contains("to")) step.to = number(value["to"], place + ".to", 0, last_rank);
    if (value.contains("wait")) step.wait = number(value["wait"], place + ".wait", 0, kMaxInt);
    if (value.contains("dst")) step.dst = read_span(value["dst"], place + ".dst");
    if (value.contains("src")) step.src = read_span(value["src"], place + ".src");
    if (value.contains("src2")) step.src2 = read_span(value["src2"], place + ".src2");
    if (value.contains("landing")) step.landing = read_span(value["landing"], place + ".landing");
    if (value.contains("final")) step.final_reduction = reader_.boolean(value["final"], place + ".final");
    return step;
  }

  Span read_span(const Json& value, const std::string& place) {
    const Json& parts = reader_.array(value, place, 4);
    if (parts.size() != 4) {
      reader_.fail(place, "is not [space, slot, first, count]");
      return Span();
    }
    return {named(parts[0], place + "[0]", kSpaces, "the name of a space"), number(parts[1], place + "[1]", 0, kMaxInt),
            number(parts[2], place + "[2]", 0, kMaxInt), number(parts[3], place + "[3]", 0, kMaxInt)};
  }

  template <typename Enums>
  typename Enums::value_type named(const Json& value, const std::string& place, const Enums& all,
                                   std::string_view what) {
    const std::string name = reader_.text(value, place);
    for (const auto one : all)
      if (to_string(one) == name) return one;
    reader_.fail(place, fmt::format("is not {}", what));
    return all.front();
  }

  JsonReader reader_{"schedule JSON"};
  Schedule schedule_;
};

}  // namespace

std::string to_json(const Schedule& schedule) {
  std::string out = fmt::format(
      "{{\"schema\": {}, \"algorithm\": {}, \"collective\": \"{}\", \"size\": {}, \"root\": {}, \"channels\": {},\n"
      " \"chunks_per_block\": {}, \"program_hash\": \"{:016x}\", \"ranks\": ",
      kScheduleSchema, json_text(schedule.algorithm), to_string(schedule.collective), schedule.size, schedule.root,
      schedule.channels, schedule.chunks_per_block, schedule.program_hash);
  write_list(out, schedule.ranks, "\n  ", [&](const RankProgram& rank) { write_rank(out, rank); });
  return out + "}\n";
}

Result<Schedule> schedule_from_json(std::string_view text) {
  WEFT_TRY_ASSIGN(const Json root, parse_json("schedule JSON", text));
  return ScheduleReader().read(root);
}

}  // namespace weft::algorithms
