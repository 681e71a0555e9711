// export: a schedule or a simulation as text for people and as files for other programs.
#pragma once

#include <string>
#include <string_view>

#include "algorithms/simulate.hpp"
#include "weft/choice.hpp"
#include "weft/schedule.hpp"
#include "weft/status.hpp"

namespace weft::algorithms {

// Steps in words, rank by rank and channel by channel; only those of `rank` unless it is -1.
std::string to_text(const Schedule& schedule, int rank = -1);
// Version 1, described in docs/schedules.md. Exact: schedule_from_json(to_json(s)) == s.
std::string to_json(const Schedule& schedule);
// Corrupt says where (line and column, or the path of the element) and what was expected. Checks the form and the
// ranges of all numbers; whether the schedule is right is verify's business.
Result<Schedule> schedule_from_json(std::string_view text);
// Graphviz: a column of steps per rank and channel, an edge per message.
std::string to_dot(const Schedule& schedule);

std::string to_text(const Simulation& simulation);
std::string to_json(const Simulation& simulation);
// For chrome://tracing and Perfetto: a process per rank, a thread per channel, messages as flow arrows.
std::string to_chrome_trace(const Simulation& simulation);

std::string to_json(const Choice& choice);

}  // namespace weft::algorithms
