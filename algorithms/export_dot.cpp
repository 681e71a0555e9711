// A schedule for Graphviz: a column of steps per rank and channel, an arrow per message.
#include <fmt/format.h>

#include <string>

#include "algorithms/export.hpp"
#include "algorithms/simulate_lanes.hpp"

namespace weft::algorithms {
namespace {

// As Graphviz reads quoted text; names come from files, too.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string node_name(const StepPlace& place) {
  return fmt::format("r{}c{}s{}", place.rank, place.channel, place.step);
}

std::string label(const Step& step, int number) {
  const Span& span = step.kind == StepKind::Send ? step.src : step.dst;
  if (span.space == Space::None) return fmt::format("{}: {}", number, to_string(step.kind));
  return fmt::format("{}: {} {}[{}+{}]", number, to_string(step.kind), to_string(span.space), span.first, span.count);
}

std::string column(int rank, int channel, const std::vector<Step>& steps) {
  std::string text =
      fmt::format("  subgraph cluster_r{}c{} {{\n    label = \"rank {}, channel {}\";\n", rank, channel, rank, channel);
  for (int i = 0; i < static_cast<int>(steps.size()); ++i)
    text += fmt::format("    {} [label = \"{}\"];\n", node_name({rank, channel, i}),
                        label(steps[static_cast<std::size_t>(i)], i));
  for (int i = 1; i < static_cast<int>(steps.size()); ++i)
    text += fmt::format("    {} -> {} [style = dotted, weight = 8];\n", node_name({rank, channel, i - 1}),
                        node_name({rank, channel, i}));
  return text + "  }\n";
}

}  // namespace

std::string to_dot(const Schedule& schedule) {
  std::string text = fmt::format("digraph \"{}/{}, {} ranks\" {{\n  node [shape = box, fontsize = 10];\n",
                                 to_string(schedule.collective), escaped(schedule.algorithm), schedule.size);
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank)
    for (std::size_t channel = 0; channel < schedule.ranks[rank].channels.size(); ++channel)
      text += column(static_cast<int>(rank), static_cast<int>(channel), schedule.ranks[rank].channels[channel]);
  for (const LaneMessage& message : pair_messages(schedule).messages)
    if (message.to.rank >= 0)
      text += fmt::format("  {} -> {} [color = blue, constraint = false];\n", node_name(message.from),
                          node_name(message.to));
  return text + "}\n";
}

}  // namespace weft::algorithms
