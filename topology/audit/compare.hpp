// What a machine lacks or has otherwise than it should: beside the site file's expectations, and beside a reference
// machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/audit/audit.hpp"

namespace weft::topology::audit {

struct Difference {
  bool missing = false;  // less of something; else another or slower one
  std::string subject;
  std::string evidence;
  std::string_view remedy;  // where and with which tool to look, if it is missing
};

// Host by host; a reference with fewer hosts is compared by its last one. Only what is worse: more, faster and nearer
// are no differences, nor is what one of both does not tell.
std::vector<Difference> differences(const Input& input);

}  // namespace weft::topology::audit
