// A simulation as text, JSON and Chrome trace.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "algorithms/export.hpp"
#include "algorithms/selector.hpp"

namespace weft::algorithms {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSimulationSchema = 1;
constexpr std::size_t kResourcesShown = 12;
constexpr std::int64_t kPsPerUs = 1'000'000;

std::string microseconds(std::int64_t ps) { return fmt::format("{}.{:06}", ps / kPsPerUs, ps % kPsPerUs); }

double as_us(std::int64_t ps) { return static_cast<double>(ps) / static_cast<double>(kPsPerUs); }

std::int64_t percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : (part * 100 + whole / 2) / whole;
}

std::string dumped(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_text(const Simulation& simulation) {
  const CriticalPath& path = simulation.critical;
  const std::int64_t total = simulation.makespan_ps;
  std::string text = fmt::format("time        {:.3f} us\n", as_us(total));
  text += fmt::format(
      "of which    latency {} %, transfer {} %, copies and reductions {} %; {} message{} one after another\n",
      percent(path.latency_ps, total), percent(path.transfer_ps, total), percent(path.local_ps, total), path.messages,
      path.messages == 1 ? "" : "s");
  text += fmt::format("bound by    {}\n", path.bottleneck.empty() ? "latency alone" : path.bottleneck);
  if (!simulation.rank_end_ps.empty()) {
    const auto [first, last] = std::minmax_element(simulation.rank_end_ps.begin(), simulation.rank_end_ps.end());
    text += fmt::format("ranks       the first is done after {:.3f} us (rank {}), the last after {:.3f} us (rank {})\n",
                        as_us(*first), first - simulation.rank_end_ps.begin(), as_us(*last),
                        last - simulation.rank_end_ps.begin());
  }
  if (simulation.resources.empty()) return text;
  text += fmt::format("\n{:<44} {:>12} {:>8} {:>12}\n", "busiest links and cores", "bytes", "busy", "GB/s peak");
  for (std::size_t i = 0; i < std::min(kResourcesShown, simulation.resources.size()); ++i) {
    const ResourceUse& use = simulation.resources[i];
    text += fmt::format("{:<44} {:>12} {:>6} % {:>12.2f}\n", use.name, format_bytes(use.bytes),
                        percent(use.busy_ps, total), static_cast<double>(use.capacity) / 1000);
  }
  if (simulation.resources.size() > kResourcesShown)
    text += fmt::format("and {} more\n", simulation.resources.size() - kResourcesShown);
  return text;
}

std::string to_json(const Simulation& simulation) {
  Json root = {
      {"schema", kSimulationSchema}, {"makespan_ps", simulation.makespan_ps}, {"rank_end_ps", simulation.rank_end_ps}};
  const CriticalPath& path = simulation.critical;
  root["critical"] = {{"messages", path.messages},
                      {"latency_ps", path.latency_ps},
                      {"transfer_ps", path.transfer_ps},
                      {"local_ps", path.local_ps},
                      {"bottleneck", path.bottleneck}};
  root["resources"] = Json::array();
  for (const ResourceUse& use : simulation.resources)
    root["resources"].push_back({{"name", use.name},
                                 {"link", use.link},
                                 {"bytes", use.bytes},
                                 {"busy_ps", use.busy_ps},
                                 {"bytes_per_us", use.capacity}});
  root["steps"] = Json::array();
  for (const SimulatedStep& step : simulation.timeline)
    root["steps"].push_back({{"rank", step.rank},
                             {"channel", step.channel},
                             {"step", step.step},
                             {"kind", to_string(step.kind)},
                             {"peer", step.peer},
                             {"bytes", step.bytes},
                             {"start_ps", step.start_ps},
                             {"end_ps", step.end_ps}});
  root["messages"] = Json::array();
  for (const SimulatedMessage& message : simulation.messages)
    root["messages"].push_back({{"from", message.from},
                                {"to", message.to},
                                {"channel", message.channel},
                                {"bytes", message.bytes},
                                {"posted_ps", message.posted_ps},
                                {"start_ps", message.start_ps},
                                {"end_ps", message.end_ps},
                                {"arrival_ps", message.arrival_ps}});
  return dumped(root, 1) + "\n";
}

// Times are in microseconds, written with all their digits. A process per rank, a thread per channel; messages are flow
// arrows from the sender's thread to the receiver's.
std::string to_chrome_trace(const Simulation& simulation) {
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  bool first = true;
  const auto add = [&](const std::string& event) {
    text += std::exchange(first, false) ? "\n " : ",\n ";
    text += event;
  };
  for (std::size_t rank = 0; rank < simulation.rank_end_ps.size(); ++rank)
    add(fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": "rank {}"}}}})", rank, rank));
  for (const SimulatedStep& step : simulation.timeline)
    add(fmt::format(
        R"({{"ph": "X", "name": "{} {}", "cat": "step", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"step": {}, "peer": {}, "bytes": {}}}}})",
        to_string(step.kind), format_bytes(step.bytes), step.rank, step.channel, microseconds(step.start_ps),
        microseconds(step.end_ps - step.start_ps), step.step, step.peer, step.bytes));
  for (std::size_t id = 0; id < simulation.messages.size(); ++id) {
    const SimulatedMessage& message = simulation.messages[id];
    add(fmt::format(R"({{"ph": "s", "name": "message", "cat": "message", "id": {}, "pid": {}, "tid": {}, "ts": {}}})",
                    id, message.from, message.channel, microseconds(message.posted_ps)));
    add(fmt::format(
        R"({{"ph": "f", "bp": "e", "name": "message", "cat": "message", "id": {}, "pid": {}, "tid": {}, "ts": {}}})",
        id, message.to, message.channel, microseconds(message.arrival_ps)));
  }
  return text + "\n]}\n";
}

std::string to_json(const Choice& choice) {
  constexpr const char* kSources[] = {"override", "table", "model", "only"};
  Json root = {{"schema", 1},
               {"collective", to_string(choice.collective)},
               {"ranks", choice.ranks},
               {"bytes", choice.bytes},
               {"source", kSources[static_cast<std::size_t>(choice.source)]},
               {"reason", choice.reason}};
  root["candidates"] = Json::array();
  for (const Candidate& candidate : choice.candidates)
    root["candidates"].push_back({{"algorithm", candidate.algorithm},
                                  {"channels", candidate.channels},
                                  {"estimate_ns", candidate.estimate_ns},
                                  {"bottleneck", candidate.bottleneck},
                                  {"note", candidate.note}});
  return dumped(root, 1) + "\n";
}

}  // namespace weft::algorithms
