// topo-probe diff: two dumps of one machine, compared.
#pragma once

#include "arguments.hpp"
#include "weft/status.hpp"

namespace weft::topo_probe {

struct DiffReport {
  bool equal = true;
  std::string text;
};
Result<DiffReport> diff_report(const DiffArguments& arguments);

}  // namespace weft::topo_probe
