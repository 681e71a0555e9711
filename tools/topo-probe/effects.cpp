// One row for each thing that topo-probe can be told to do, with the options that matter to it. An option that is in no
// row of what was chosen would be ignored. Pairs that never go together are refused by the parser itself.
#include "effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "base/assert.hpp"

namespace weft::topo_probe {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 5> kSources = {"--model", "--from", "--root", "--fabric", "--cluster"};
constexpr std::array<std::string_view, 4> kWritten = {"--format", "--json", "--output", "--fail-on"};
// What findings depend on; of these also what a measurement finds. They matter where findings are shown, and to the
// exit status of --fail-on.
constexpr std::array<std::string_view, 6> kFindings = {"--audit",  "--site",     "--ignore",
                                                       "--expect", "--interval", "--measure"};
constexpr std::array<std::string_view, 3> kOrders = {"--matrix", "--rings", "--ranks"};
constexpr std::array<std::string_view, 2> kAdvice = {"--bindings", "--env"};
constexpr std::array<std::string_view, 2> kCorrected = {"--measure", "--write-corrected"};
constexpr std::array<std::string_view, 1> kNcclVersion = {"--nccl-version"};
constexpr std::array<std::string_view, 2> kOfDiff = {"--json", "--output"};
constexpr std::array<std::string_view, 1> kOfRecord = {"--root"};
constexpr std::array<std::string_view, 2> kOfModels = {"--list-models", "--output"};

// What is told to happen: a subcommand, an option that makes another program of this one, or a name of the table of
// formats.
struct Mode {
  std::string_view name;
  std::array<Names, 6> options;
};
constexpr Mode kModes[] = {
    {"diff", {kOfDiff}},
    {"record", {kOfRecord}},
    {"--list-models", {kOfModels}},
    {"--cluster", {kSources, kWritten, kFindings, kCorrected}},
    {"text", {kSources, kWritten, kFindings, kOrders, kAdvice, kCorrected}},
    {"json", {kSources, kWritten, kFindings, kOrders, kAdvice, kCorrected}},
    {"html", {kSources, kWritten, kFindings, kOrders, kCorrected}},
    {"line", {kSources, kWritten, kFindings, kCorrected}},
    {"prometheus", {kSources, kWritten, kFindings, kCorrected}},
    {"dot", {kSources, kWritten}},
    {"nccl-xml", {kSources, kWritten, kNcclVersion}},
};

bool holds(Names names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

std::string_view mode_name(const Arguments& arguments) {
  if (arguments.diff) return "diff";
  if (arguments.record) return "record";
  if (arguments.list_models) return "--list-models";
  return arguments.cluster ? std::string_view("--cluster") : std::string_view(arguments.format);
}

const Mode& mode_of(const Arguments& arguments) {
  const auto found = std::find_if(std::begin(kModes), std::end(kModes),
                                  [&](const Mode& mode) { return mode.name == mode_name(arguments); });
  WEFT_ASSERT(found != std::end(kModes));
  return *found;
}

bool is_report(const Arguments& arguments) { return mode_name(arguments) == arguments.format; }

bool matters(const Arguments& arguments, std::string_view option) {
  const Mode& mode = mode_of(arguments);
  if (std::any_of(mode.options.begin(), mode.options.end(), [&](Names names) { return holds(names, option); }))
    return true;
  if (!is_report(arguments)) return false;
  // Forms without findings: the exit status may depend on them, and a corrected file is written beside any report.
  if (arguments.fail_on && option != "--audit" && holds(kFindings, option)) return true;
  return arguments.write_corrected && holds(kCorrected, option);
}

// The mode as it was asked for.
std::string words_of_mode(const Arguments& arguments, const std::vector<std::string>& given) {
  if (!is_report(arguments)) return std::string(mode_name(arguments));
  const bool short_form = std::find(given.begin(), given.end(), "--json") != given.end();
  return short_form ? "--json" : fmt::format("--format {}", arguments.format);
}

// JSON holds the bindings in a form of its own.
bool has_unused_form(const Arguments& arguments) {
  return is_report(arguments) && arguments.format == "json" && !arguments.bindings.empty() &&
         arguments.bindings != "text" && arguments.bindings != "json";
}

}  // namespace

std::optional<std::string> find_option_without_effect(const Arguments& arguments,
                                                      const std::vector<std::string>& given) {
  for (const std::string& option : given)
    if (!matters(arguments, option))
      return fmt::format("{} has no effect with {}; leave one of them out", option, words_of_mode(arguments, given));
  if (arguments.cluster && arguments.format != "text" && arguments.format != "json" && arguments.format != "prometheus")
    return fmt::format("--cluster is written as text, json or prometheus, not as {}", arguments.format);
  if (has_unused_form(arguments))
    return fmt::format("--bindings={} has no effect with {}; give --bindings", arguments.bindings,
                       words_of_mode(arguments, given));
  return std::nullopt;
}

}  // namespace weft::topo_probe
