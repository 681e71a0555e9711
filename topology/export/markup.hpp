// Text for XML, HTML, SVG and labels: escaped, since names of devices come from foreign files, and measured, so that it
// fits into boxes whatever font a browser takes.
#pragma once

#include <string>
#include <string_view>

namespace weft::topology {

// Valid within elements and within quoted attributes; bytes that are no UTF-8 and control characters become U+FFFD.
std::string escaped(std::string_view text);

// The value of a label of Prometheus' text format, without its quotes; on one line, bounded in length; what cannot be
// shown becomes '-'.
std::string label_value(std::string_view text);

// The most that the text is wide, in units of its font's size, in a usual font without serifs.
double text_width(std::string_view text);

// As much of the text as fits into that width, in pixels at that size; what is cut ends in an ellipsis. Not escaped.
std::string fitted(std::string_view text, double pixels, double font_size);

}  // namespace weft::topology
