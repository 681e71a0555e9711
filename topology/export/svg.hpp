// A picture as SVG, to stand in an HTML page whose style sheet knows its classes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/export/picture.hpp"

namespace weft::topology {

// An order over nodes, drawn over the picture in a group of its own class, which the page shows or hides.
struct PictureOverlay {
  std::string css_class;                   // "ring0"
  std::vector<std::pair<int, int>> edges;  // from node to node
};

// The head of the overlays' arrows, once for a page.
std::string svg_arrow();

// Marks lead to "#finding<number>"; boxes with marks can be led to as "#part<number>".
std::string svg_of(const Picture& picture, std::string_view title, const std::vector<PictureOverlay>& overlays);

}  // namespace weft::topology
