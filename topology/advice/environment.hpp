// Environment: the variables of NCCL, UCX and launchers that this host needs, each with the evidence it rests on. What
// these find out themselves gets no line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology::advice {

struct Setting {
  std::string name;
  std::string value;  // empty where it is a file that must be written or found first
  std::string reason;
  std::optional<std::string> present;  // what the environment holds now, if that is known

  bool operator==(const Setting&) const = default;
};

std::vector<Setting> environment_of(const Survey& survey, Locality& locality, int host);
// Of all hosts, looking through the graph once.
std::vector<std::vector<Setting>> environments_of(const Survey& survey, Locality& locality);

// Lines for a shell, each with its reason above it. Hosts that need the same are told once.
std::string environment_text(const Survey& survey, Locality& locality);
void write_environment(base::JsonWriter& json, const Survey& survey, Locality& locality);

}  // namespace weft::topology::advice
