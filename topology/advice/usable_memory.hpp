// Which memory nodes the processes of a host can take memory from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/locality.hpp"
#include "topology/survey.hpp"

namespace weft::topology::advice {

class UsableMemory {
 public:
  UsableMemory(const Survey& survey, Locality& locality, int host);

  // Why a process cannot use a memory node: "has no memory", "may not be used here"; empty if it can.
  std::string obstacle(int numa) const;
  // The nearest node with CPUs that can be used, by the links between them, then by number; -1 if there is none.
  int nearest(int numa) const;

 private:
  Locality& locality_;
  int host_;
  std::optional<std::vector<int>> allowed_;  // os indices, sorted
};

}  // namespace weft::topology::advice
