// The sections of the HTML page.
#pragma once

#include <string>
#include <vector>

#include "report.hpp"
#include "topology/export/picture.hpp"
#include "topology/export/svg.hpp"

namespace weft::topo_probe {

// Which part of the graph a finding is about, by the finding's position; -1: none of it.
std::vector<int> parts_of_findings(const Report& report);

// Rings and trees that the page can lay over its pictures; none without --rings.
struct Order {
  std::string name;  // "ring 0"
  topology::PictureOverlay overlay;
};
std::vector<Order> orders_of(const Report& report);

// Each is empty where there is nothing to show.
std::string network_html(const Report& report);
std::string matrices_html(const Report& report);
std::string facts_html(const Report& report, const std::vector<HostGroup>& groups);
std::string unknown_html(const Report& report);

}  // namespace weft::topo_probe
