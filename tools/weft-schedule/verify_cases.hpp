// Which schedules weft-schedule verify proves: algorithms times ranks, hosts, roots, channels and aliasing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/weft-schedule/arguments.hpp"
#include "weft/group.hpp"
#include "weft/schedule_builder.hpp"
#include "weft/status.hpp"

namespace weft::schedule_tool {

struct Case {
  const Algorithm* algorithm = nullptr;
  int ranks = 1;
  int ranks_per_host = 0;  // 0: one host
  int root = 0;
  int replicas = 1;
  bool in_place = false;

  Group group() const;
  // "broadcast/tree on 5 ranks, root 2, 1 channels, in place".
  std::string to_string() const;
};

// InvalidArgument quotes the list that does not read.
Result<std::vector<Case>> list_cases(const CaseArguments& arguments);

// "1-32,127,257" as sorted numbers. `option` is named in the error.
Result<std::vector<int>> parse_numbers(std::string_view option, std::string_view text, int least, int most);

}  // namespace weft::schedule_tool
