// The middle of a host's picture: links between sockets, NVLink, XGMI and C2C, and the NVSwitch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "topology/export/bandwidth_bands.hpp"
#include "topology/export/host_picture.hpp"
#include "topology/export/markup.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

constexpr double kSwitchWidth = 100;

std::string link_title(const Locality& locality, const Link& link) {
  return fmt::format("{} to {}: {}{} {:.4g} GB/s each way ({})", locality.node(link.a).name, locality.node(link.b).name,
                     link.count > 1 ? fmt::format("{} x ", link.count) : "", to_string(link.kind), link.bandwidth_gbs,
                     link.source);
}

PictureLine line_of(const Locality& locality, const Link& link, std::string path) {
  PictureLine line;
  line.path = std::move(path);
  line.band = bandwidth_band(link.bandwidth_gbs);
  line.assumed = link.source == kAssumed;
  line.title = link_title(locality, link);
  return line;
}

}  // namespace

void HostPicture::draw_middle() {
  draw_sockets();
  draw_device_links();
}

// Between packages: across the middle at the height of their headers, or along a column.
void HostPicture::draw_sockets() {
  for (const Link* link : links_) {
    if (link->kind != LinkKind::CpuSocket) continue;
    const auto a = box_of_.find(std::min(link->a, link->b));
    const auto b = box_of_.find(std::max(link->a, link->b));
    if (a == box_of_.end() || b == box_of_.end()) continue;
    const PictureBox& from = picture_.boxes[static_cast<std::size_t>(a->second)];
    const PictureBox& to = picture_.boxes[static_cast<std::size_t>(b->second)];
    const bool across = from.x != to.x;
    const double x1 = from.x + (across ? from.width : from.width / 2);
    const double y1 = across ? from.y + 14 : from.y + from.height;
    const double x2 = across ? to.x : to.x + to.width / 2;
    const double y2 = across ? to.y + 14 : to.y;
    if (!across && y2 < y1) continue;
    if (!across && y2 - y1 > 40) continue;  // another package is between
    picture_.lines.push_back(line_of(locality_, *link, fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", x1, y1, x2, y2)));
    if (!across || y1 != y2) continue;
    const std::string rate = fmt::format("{:.3g} GB/s", link->bandwidth_gbs);
    picture_.lines.back().label = {(x1 + x2) / 2 - text_width(rate) * 10 / 2, y1 - 5, 10, false, false, rate};
  }
}

void HostPicture::draw_device_links() {
  double top = 1e9;
  double bottom = 0;
  int fabric = -1;
  for (const Link* link : links_) {
    for (int end : {link->a, link->b}) {
      if (node(end).kind == NodeKind::NvSwitch) fabric = end;
      if (node(end).kind != NodeKind::Gpu || !picture_.places.contains(end)) continue;
      top = std::min(top, picture_.places[end].y);
      bottom = std::max(bottom, picture_.places[end].y);
    }
  }
  const bool two = picture_.width > right_.left + 100;
  const double middle = two ? (left_.right + right_.left) / 2 : left_.right + 130;
  if (fabric >= 0) {
    const double height = std::max(bottom - top + 42, 60.0);
    const double x = middle - kSwitchWidth / 2;
    const int box = add_box(fabric, 0, "nvswitch", x, top - 21, kSwitchWidth, height);
    write(box, x + 12, top - 17 + height / 2, 13, true, "NVSwitch", kSwitchWidth - 20);
  }
  for (const Link* link : links_) {
    const auto a = picture_.places.find(link->a);
    const auto b = picture_.places.find(link->b);
    const bool gpus = node(link->a).kind == NodeKind::Gpu && node(link->b).kind == NodeKind::Gpu;
    const bool to_fabric = node(link->a).kind == NodeKind::NvSwitch || node(link->b).kind == NodeKind::NvSwitch;
    if (a == picture_.places.end() || b == picture_.places.end()) continue;
    if (to_fabric) {
      const PicturePlace from = node(link->a).kind == NodeKind::Gpu ? a->second : b->second;
      const double x = from.x < middle ? middle - kSwitchWidth / 2 : middle + kSwitchWidth / 2;
      PictureLine line = line_of(locality_, *link, fmt::format("M{:.1f} {:.1f}H{:.1f}", from.x, from.y, x));
      const std::string rate =
          fmt::format("{}{:.3g}", link->count > 1 ? fmt::format("{} x ", link->count) : "", link->lane_gbs());
      line.label = {(from.x + x) / 2 - text_width(rate) * 9 / 2, from.y - 5, 9, false, false, rate};
      picture_.lines.push_back(std::move(line));
    } else if (gpus) {
      picture_.lines.push_back(line_of(locality_, *link, middle_curve(a->second, b->second)));
    }
  }
}

// Between two places at the edge of the middle: bent the more, the farther they are apart.
std::string HostPicture::middle_curve(const PicturePlace& a, const PicturePlace& b) const {
  const double room = std::max(60.0, (right_.left - left_.right) * 0.8);
  const bool left = a.x <= left_.right + 1;
  const double bend = a.x == b.x ? std::min(room, 26 + std::abs(a.y - b.y) * 0.3) : room / 2;
  const double toward_a = left ? bend : -bend;
  const double toward_b = b.x <= left_.right + 1 ? bend : -bend;
  return fmt::format("M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", a.x, a.y, a.x + toward_a, a.y,
                     b.x + toward_b, b.y, b.x, b.y);
}

}  // namespace weft::topology
