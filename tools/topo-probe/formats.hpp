// The forms in which a report is written: one row in the table for each, one file for its writer. And the views, the
// parts of the text form that can be asked for alone.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "report.hpp"

namespace weft::topo_probe {

struct Format {
  std::string_view name;  // of --format
  std::string_view summary;
  std::size_t most_devices;  // of which it holds matrices though nobody asked for them
  Result<std::string> (*write)(Report& report, const Arguments& arguments);
};
std::span<const Format> formats();
// Of a name that is in the table.
const Format& format_named(std::string_view name);

// A part of the text form. Those that are asked for are written in the table's order; without any, all is written that
// text.cpp puts together.
struct View {
  bool (*wanted)(const Arguments& arguments);
  Result<std::string> (*text)(Report& report, const Arguments& arguments);
};
std::span<const View> views();

}  // namespace weft::topo_probe
