// A simulation as text, JSON and Chrome trace.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "algorithms/export.hpp"
#include "base/json_writer.hpp"
#include "base/message_sizes.hpp"
#include "base/plural.hpp"

namespace weft::algorithms {
namespace {

using base::format_bytes;
using base::JsonWriter;
using Layout = JsonWriter::Layout;

constexpr int kSimulationSchema = 1;
constexpr std::size_t kResourcesShown = 12;
constexpr std::int64_t kPsPerUs = 1'000'000;

std::string microseconds(std::int64_t ps) { return fmt::format("{}.{:06}", ps / kPsPerUs, ps % kPsPerUs); }

double as_us(std::int64_t ps) { return static_cast<double>(ps) / static_cast<double>(kPsPerUs); }

std::int64_t percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : (part * 100 + whole / 2) / whole;
}

void write_critical(JsonWriter& json, const CriticalPath& path) {
  json.begin_object("critical");
  json.member("messages", path.messages);
  json.member("latency_ps", path.latency_ps);
  json.member("transfer_ps", path.transfer_ps);
  json.member("local_ps", path.local_ps);
  json.member("bottleneck", path.bottleneck);
  json.end_object();
}

void write(JsonWriter& json, const ResourceUse& use) {
  json.begin_object();
  json.member("name", use.name);
  json.member("link", use.link);
  json.member("bytes", use.bytes);
  json.member("busy_ps", use.busy_ps);
  json.member("bytes_per_us", use.capacity);
  json.end_object();
}

void write(JsonWriter& json, const SimulatedStep& step) {
  json.begin_object();
  json.member("rank", step.rank);
  json.member("channel", step.channel);
  json.member("step", step.step);
  json.member("kind", to_string(step.kind));
  json.member("peer", step.peer);
  json.member("bytes", step.bytes);
  json.member("start_ps", step.start_ps);
  json.member("end_ps", step.end_ps);
  json.end_object();
}

void write(JsonWriter& json, const SimulatedMessage& message) {
  json.begin_object();
  json.member("from", message.from);
  json.member("to", message.to);
  json.member("channel", message.channel);
  json.member("bytes", message.bytes);
  json.member("posted_ps", message.posted_ps);
  json.member("start_ps", message.start_ps);
  json.member("end_ps", message.end_ps);
  json.member("arrival_ps", message.arrival_ps);
  json.end_object();
}

void write(JsonWriter& json, const Candidate& candidate) {
  json.begin_object();
  json.member("algorithm", candidate.algorithm);
  json.member("channels", candidate.channels);
  json.member("estimate_ns", candidate.estimate_ns);
  json.member("bottleneck", candidate.bottleneck);
  json.member("note", candidate.note);
  json.end_object();
}

template <typename Element>
void write_lines(JsonWriter& json, std::string_view name, const std::vector<Element>& elements) {
  json.begin_list(name, Layout::Lines);
  for (const Element& element : elements) write(json, element);
  json.end_list();
}

}  // namespace

std::string to_text(const Simulation& simulation) {
  const CriticalPath& path = simulation.critical;
  const std::int64_t total = simulation.makespan_ps;
  std::string text = fmt::format("time        {:.3f} us\n", as_us(total));
  text += fmt::format("of which    latency {} %, transfer {} %, copies and reductions {} %; {} one after another\n",
                      percent(path.latency_ps, total), percent(path.transfer_ps, total), percent(path.local_ps, total),
                      base::plural(path.messages, "message"));
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
  JsonWriter json;
  json.begin_object(Layout::Lines);
  json.member("schema", kSimulationSchema);
  json.member("makespan_ps", simulation.makespan_ps);
  json.member("rank_end_ps", simulation.rank_end_ps);
  write_critical(json, simulation.critical);
  write_lines(json, "resources", simulation.resources);
  write_lines(json, "steps", simulation.timeline);
  write_lines(json, "messages", simulation.messages);
  json.end_object();
  return std::move(json).text();
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
  JsonWriter json;
  json.begin_object(Layout::Lines);
  json.member("schema", 1);
  json.member("collective", to_string(choice.collective));
  json.member("ranks", choice.ranks);
  json.member("bytes", choice.bytes);
  json.member("source", kSources[static_cast<std::size_t>(choice.source)]);
  json.member("reason", choice.reason);
  write_lines(json, "candidates", choice.candidates);
  json.end_object();
  return std::move(json).text();
}

}  // namespace weft::algorithms
