// The style sheet of the HTML page.
#pragma once

#include <string>

namespace weft::topo_probe {

// Light and dark, on screens and on paper; colours of links are those of the bands of bandwidth.
std::string html_style();

}  // namespace weft::topo_probe
