// The file's own words for collective, ranks and root, held against those of the command line.
#include "bench/weft-bench/schedule_file.hpp"

#include <fmt/format.h>

#include "algorithms/export.hpp"
#include "bench/weft-bench/kind.hpp"

namespace weft::bench {
namespace {

Status wrong(const Arguments& arguments, std::string_view what) {
  return {Code::InvalidArgument, fmt::format("--schedule {}: {}", arguments.schedule, what)};
}

Result<std::vector<algorithms::ScheduleText>> texts_of(const Arguments& arguments) {
  if (arguments.schedule.empty()) return std::vector<algorithms::ScheduleText>();
  auto texts = algorithms::read_schedule_files({arguments.schedule});
  if (!texts) return Status(Code::InvalidArgument, fmt::format("--schedule {}", texts.error().message()));
  return texts;
}

}  // namespace

Result<algorithms::LoadedSchedules> loaded_schedule(const Arguments& arguments) {
  WEFT_TRY_ASSIGN(const auto texts, texts_of(arguments));
  auto loaded = algorithms::LoadedSchedules::load(texts);
  if (!loaded) return Status(Code::InvalidArgument, fmt::format("--schedule {}", loaded.error().message()));
  return loaded;
}

Status convert_schedule(Words& words, Arguments& arguments) {
  if (arguments.schedule.empty()) return {};
  WEFT_TRY_ASSIGN(const auto texts, texts_of(arguments));
  const auto schedule = algorithms::schedule_from_json(texts.front().text);
  if (!schedule) return wrong(arguments, schedule.error().message());
  if (words.tune || words.regret || words.explain) return {};  // one candidate more
  if (words.calibrate) return wrong(arguments, "--calibrate measures messages: leave it out");
  if (!arguments.algorithm.empty()) return wrong(arguments, "the file is the algorithm: leave --algorithm out");
  if (words.collectives.empty()) words.collectives.emplace_back(to_string(schedule->collective));
  for (const std::string& word : words.collectives) {
    const std::optional<Kind> kind = parse_kind(word);
    if (!kind || kind->collective != schedule->collective)
      return wrong(arguments, fmt::format("it is for {}, not for {}", to_string(schedule->collective), word));
  }
  if (arguments.ranks && *arguments.ranks != schedule->size)
    return wrong(arguments, fmt::format("it is for {} ranks, and -n is {}", schedule->size, *arguments.ranks));
  const std::string root = std::to_string(schedule->root);
  if (has_root(schedule->collective) && words.has("root") && words.root != root)
    return wrong(arguments, fmt::format("it is for root {}, and --root is {}", root, words.root));
  if (has_root(schedule->collective)) words.root = root;
  arguments.schedule_ranks = schedule->size;
  arguments.algorithm = std::string(algorithms::kLoadedPrefix) + schedule->algorithm;
  return {};
}

}  // namespace weft::bench
