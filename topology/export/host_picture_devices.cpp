// What a host's picture draws below a unit's cores: bridges and switches as bars, GPUs and NICs in rows, and the links
// of PCIe between them.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/plural.hpp"
#include "topology/export/bandwidth_bands.hpp"
#include "topology/export/host_picture.hpp"
#include "topology/export/host_picture_sizes.hpp"
#include "topology/export/markup.hpp"
#include "topology/export/node_words.hpp"
#include "topology/sources.hpp"

namespace weft::topology {
namespace {

constexpr double kGap = 34;     // between a bar and what is below it: the link, and its rate
constexpr double kPortGap = 8;  // between a chip and its ports
constexpr double kBridgeWidth = 96;
constexpr double kSwitchWidth = 108;
constexpr double kPortWidth = 9;

double gap_before(const Node& below) { return below.kind == NodeKind::PciBridge ? kPortGap : kGap; }

// A port has no more than a line's width: its link is that of what is below it.
double bar_width(const Graph& graph, const Node& node) {
  if (node.kind == NodeKind::PciSwitch) return kSwitchWidth;
  return is_host_bridge(graph, node.id) ? kBridgeWidth : kPortWidth;
}

std::string_view look_of(const Graph& graph, const Node& node) {
  switch (node.kind) {
    case NodeKind::Gpu:
      return "gpu";
    case NodeKind::Nic:
      return node.active.value_or(true) ? "nic" : "nic down";
    case NodeKind::PciSwitch:
      return "switch";
    default:
      return is_host_bridge(graph, node.id) ? "bridge" : "port";
  }
}

std::string first_line(const Node& device) {
  std::string line = device.name;
  if (device.kind != NodeKind::Nic) return line;
  for (const std::string& name : device.names)
    if (name != device.name) line += " " + name;
  return line;
}

}  // namespace

// The width of the bars on the way to the deepest device.
double HostPicture::depth_width(int id) const {
  double below = 0;
  for (int child : children(id))
    if (is_io(node(child).kind)) below = std::max(below, gap_before(node(child)) + depth_width(child));
  return is_bar(node(id).kind) ? bar_width(locality_.graph(), node(id)) + below : below;
}

// Bridges and devices side by side below one bar, or below none; gives the height with the last gap. NICs that are
// alike and many become one box.
double HostPicture::draw_devices(const std::vector<int>& tops, int bar, int box, double x, double y, const Area& area,
                                 bool mirrored) {
  std::map<std::string, std::size_t> seen;
  std::map<std::string, std::vector<int>> hidden;
  double at = y;
  for (int top : tops) {
    const std::string kind = node(top).kind == NodeKind::Nic ? node(top).device + node(top).model : "";
    if (node(top).kind == NodeKind::Nic && ++seen[kind] > kMaxLikeNics) {
      hidden[kind].push_back(top);
      continue;
    }
    at += draw_tree(top, bar, box, x, at, area, mirrored) + kRowGap;
  }
  for (const auto& [kind, nics] : hidden) {
    draw_rest(nics, box, at, area, mirrored);
    at += kRowHeight + kRowGap;
  }
  return at - y;
}

// One bridge with all below it, or one device; gives the height.
double HostPicture::draw_tree(int id, int above, int box, double x, double y, const Area& area, bool mirrored) {
  double height = kRowHeight;
  double edge = area.width - kDeviceWidth;
  if (is_bar(node(id).kind)) {
    edge = above >= 0 ? x + gap_before(node(id)) : x;
    height = draw_bar(id, box, edge, y, area, mirrored);
  } else {
    draw_device(id, box, y, area, mirrored);
  }
  if (above >= 0) draw_link(above, id, x, edge, y + std::min(height, kRowHeight) / 2, area, mirrored);
  return height;
}

double HostPicture::draw_bar(int id, int box, double x, double y, const Area& area, bool mirrored) {
  const Node& bar = node(id);
  const double width = bar_width(locality_.graph(), bar);
  const double left = mirrored ? area.width - x - width : x;
  const int own = add_box(id, box, look_of(locality_.graph(), bar), area.x + left, y, width, 0);
  std::vector<int> below;
  for (int child : children(id))
    if (is_io(node(child).kind)) below.push_back(child);
  double rows = draw_devices(below, id, box, x + width, y, area, mirrored);
  rows += draw_storage(id, box, y + rows, area, mirrored);
  const double height = std::max(kRowHeight, rows - kRowGap);
  picture_.boxes[static_cast<std::size_t>(own)].height = height;
  if (width <= kPortWidth) return height;
  const bool is_switch = bar.kind == NodeKind::PciSwitch;
  write(own, area.x + left + 7, y + 17, 11, true, is_switch ? "PCIe switch" : "host bridge", width - 14);
  write(own, area.x + left + 7, y + 32, 10, false, bar.bus_id.empty() ? bar.name : bar.bus_id, width - 14);
  return height;
}

void HostPicture::draw_device(int id, int box, double y, const Area& area, bool mirrored) {
  const Node& device = node(id);
  const double left = area.x + (mirrored ? 0 : area.width - kDeviceWidth);
  const int own = add_box(id, box, look_of(locality_.graph(), device), left, y, kDeviceWidth, kRowHeight);
  const double room = kDeviceWidth - 16 - kMarkRoom;
  const std::string name = fitted(first_line(device), room * 0.6, 12);
  const double width = text_width(name) * 12;
  write(own, left + 8, y + 17, 12, true, name, room);
  write(own, left + 16 + width, y + 17, 10, false, device.model.empty() ? device.device : device.model,
        room - width - 8);
  std::string facts = device.bus_id == device.name ? "" : device.bus_id;
  const auto add = [&](const std::string& fact) {
    if (!fact.empty()) facts += (facts.empty() ? "" : "  ") + fact;
  };
  add(device.kind == NodeKind::Nic ? nic_words(device) : pci_words(device.pci));
  write(own, left + 8, y + 33, 10, false, facts, kDeviceWidth - 16);
  picture_.places[id] = {mirrored ? left : left + kDeviceWidth, y + kRowHeight / 2};
}

void HostPicture::draw_rest(const std::vector<int>& nics, int box, double y, const Area& area, bool mirrored) {
  draw_many(nics, "nic", box, y, area, mirrored, fmt::format("and {} like it", base::plural(nics.size(), "NIC")),
            node(nics.front()).name + " \xe2\x80\xa6 " + node(nics.back()).name);
}

// All storage below a unit or a switch in one box; gives the height with the gap.
double HostPicture::draw_storage(int below, int box, double y, const Area& area, bool mirrored) {
  const std::vector<int>& storage = storage_.below(below);
  if (storage.empty()) return 0;
  draw_many(storage, "storage", box, y, area, mirrored, storage_count(storage.size()),
            storage_names(locality_.graph(), storage));
  return kRowHeight + kRowGap;
}

// One box for several devices, with all of their marks.
void HostPicture::draw_many(const std::vector<int>& devices, std::string_view look, int box, double y, const Area& area,
                            bool mirrored, const std::string& title, const std::string& names) {
  const double left = area.x + (mirrored ? 0 : area.width - kDeviceWidth);
  const int own = add_box(-1, box, look, left, y, kDeviceWidth, kRowHeight);
  PictureBox& many = picture_.boxes[static_cast<std::size_t>(own)];
  for (int device : devices) {
    many.title += describe_node(node(device), locality_) + "\n";
    const auto marks = marks_.find(device);
    if (marks != marks_.end()) many.marks.insert(many.marks.end(), marks->second.begin(), marks->second.end());
    picture_.places[device] = {mirrored ? left : left + kDeviceWidth, y + kRowHeight / 2};
    box_of_[device] = own;
  }
  write(own, left + 8, y + 17, 12, true, title, kDeviceWidth - 16 - kMarkRoom);
  write(own, left + 8, y + 33, 10, false, names, kDeviceWidth - 16);
}

void HostPicture::draw_link(int above, int below, double from, double to, double y, const Area& area, bool mirrored) {
  const Graph& graph = locality_.graph();
  const auto found = std::find_if(graph.links.begin(), graph.links.end(), [&](const Link& link) {
    return (link.a == above && link.b == below) || (link.a == below && link.b == above);
  });
  if (found == graph.links.end()) return;
  // From a host bridge to its ports there is no link of PCIe, only the inside of a chip.
  const bool inside = node(below).kind == NodeKind::PciBridge;
  const double x1 = area.x + (mirrored ? area.width - from : from);
  const double x2 = area.x + (mirrored ? area.width - to : to);
  PictureLine line;
  line.path = fmt::format("M{:.1f} {:.1f}H{:.1f}", x1, y, x2);
  line.band = bandwidth_band(found->bandwidth_gbs);
  line.assumed = found->source == kAssumed;
  line.title = fmt::format("{} to {}: {} {:.4g} GB/s ({})", node(above).name, node(below).name, to_string(found->kind),
                           found->bandwidth_gbs, found->source);
  if (inside) line.band = 0;
  if (!inside && !line.assumed) {
    const std::string rate = fmt::format("{:.3g}", found->bandwidth_gbs);
    line.label = {(x1 + (x2 > x1 ? kGap : -kGap) + x1) / 2 - text_width(rate) * 9 / 2, y - 4, 9, false, false, rate};
  }
  picture_.lines.push_back(std::move(line));
}

}  // namespace weft::topology
