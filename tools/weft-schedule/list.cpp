// weft-schedule list: the algorithms there are.
#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.hpp"
#include "tools/weft-schedule/commands.hpp"

namespace weft::schedule_tool {
namespace {

std::string full_name(const Algorithm& algorithm) {
  return fmt::format("{}/{}", to_string(algorithm.collective), algorithm.name);
}

std::string as_text(const std::vector<const Algorithm*>& algorithms) {
  std::size_t width = 0;
  for (const Algorithm* algorithm : algorithms) width = std::max(width, full_name(*algorithm).size());
  std::string text;
  for (const Algorithm* algorithm : algorithms)
    text += fmt::format("{:<{}}  {}{}  {}\n", full_name(*algorithm), width, algorithm->native_channels,
                        algorithm->replicable ? "+" : " ", algorithm->summary);
  return text + "\nThe number is that of channels; + means that multiples of it are possible.\n";
}

std::string as_json(const std::vector<const Algorithm*>& algorithms) {
  base::JsonWriter json;
  json.begin_list(base::JsonWriter::Layout::Lines);
  for (const Algorithm* algorithm : algorithms) {
    json.begin_object();
    json.member("collective", to_string(algorithm->collective));
    json.member("name", algorithm->name);
    json.member("channels", algorithm->native_channels);
    json.member("replicable", algorithm->replicable);
    json.member("summary", algorithm->summary);
    json.end_object();
  }
  json.end_list();
  return std::move(json).text();
}

}  // namespace

Result<int> list(const ListArguments& arguments) {
  std::vector<const Algorithm*> algorithms(all_algorithms().begin(), all_algorithms().end());
  if (arguments.collective) {
    WEFT_TRY_ASSIGN(const Collective collective, collective_named(*arguments.collective));
    std::erase_if(algorithms, [&](const Algorithm* algorithm) { return algorithm->collective != collective; });
  }
  WEFT_TRY(write_output(arguments.json ? as_json(algorithms) : as_text(algorithms)));
  return kFine;
}

}  // namespace weft::schedule_tool
