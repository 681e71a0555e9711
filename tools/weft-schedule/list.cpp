// weft-schedule list: the algorithms there are.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/weft-schedule/commands.hpp"

namespace weft::schedule_tool {
namespace {

struct Arguments {
  std::string collective;
  bool json = false;
};

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
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Algorithm* algorithm : algorithms)
    list.push_back({{"collective", to_string(algorithm->collective)},
                    {"name", algorithm->name},
                    {"channels", algorithm->native_channels},
                    {"replicable", algorithm->replicable},
                    {"summary", algorithm->summary}});
  return list.dump(1) + "\n";
}

Result<int> run(const Arguments& arguments) {
  std::vector<const Algorithm*> algorithms(all_algorithms().begin(), all_algorithms().end());
  if (!arguments.collective.empty()) {
    WEFT_TRY_ASSIGN(const Collective collective, collective_named(arguments.collective));
    std::erase_if(algorithms, [&](const Algorithm* algorithm) { return algorithm->collective != collective; });
  }
  WEFT_TRY(write_output("", arguments.json ? as_json(algorithms) : as_text(algorithms)));
  return kFine;
}

}  // namespace

Command add_list(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* list = app.add_subcommand("list", "Lists the algorithms");
  list->add_option("--collective", arguments->collective, "Only those of this collective");
  list->add_flag("--json", arguments->json, "As JSON");
  return {list, [arguments] { return run(*arguments); }};
}

}  // namespace weft::schedule_tool
