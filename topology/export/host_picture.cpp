// The layout of a host's units and of what is in them.
#include "topology/export/host_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/plural.hpp"
#include "topology/export/host_picture_sizes.hpp"
#include "topology/export/markup.hpp"
#include "topology/export/node_words.hpp"

namespace weft::topology {
namespace {

constexpr double kMargin = 12;
constexpr double kUnitGap = 16;
constexpr double kHeaderHeight = 38;
constexpr double kNumaHeaderHeight = 24;
constexpr double kChipWidth = 116;
constexpr double kChipHeight = 20;
constexpr double kLeastWidth = 380;

}  // namespace

HostPicture::HostPicture(Locality& locality, int machine, const PictureMarks& marks)
    : locality_(locality),
      machine_(machine),
      marks_(marks),
      storage_(locality.graph()),
      children_(locality.graph().nodes.size()) {
  const Graph& graph = locality.graph();
  for (const Node& child : graph.nodes)
    if (child.parent >= 0 && !storage_.contains(child.id))
      children_[static_cast<std::size_t>(child.parent)].push_back(child.id);
  for (const Link& link : graph.links)
    if (node(link.a).host == node(machine).host && link.kind != LinkKind::Pci && link.kind != LinkKind::Internal &&
        link.kind != LinkKind::Network)
      links_.push_back(&link);
}

Picture HostPicture::draw() {
  const std::vector<int> all = units();
  add_box(machine_, -1, "machine", 0, 0, 0, 0);
  draw_columns(all);
  draw_middle();
  double bottom = 0;
  for (const PictureBox& box : picture_.boxes) bottom = std::max(bottom, box.y + box.height);
  picture_.height = bottom + kMargin;
  PictureBox& machine = picture_.boxes.front();
  machine.width = picture_.width;
  machine.height = picture_.height;
  return std::move(picture_);
}

// Packages, NUMA nodes that stand on the machine, and -1 for devices whose place is not known.
std::vector<int> HostPicture::units() const {
  std::vector<int> units;
  for (int child : children(machine_)) {
    const NodeKind kind = node(child).kind;
    if (kind == NodeKind::Package || kind == NodeKind::Numa) units.push_back(child);
  }
  if (has_devices_without_unit()) units.push_back(-1);
  return units;
}

bool HostPicture::has_devices_without_unit() const {
  return std::any_of(children(machine_).begin(), children(machine_).end(),
                     [&](int child) { return is_io(node(child).kind) || node(child).kind == NodeKind::CoreGroup; });
}

double HostPicture::widest(int id) const {
  double width = 0;
  for (int child : children(id)) {
    const NodeKind kind = node(child).kind;
    if (is_io(kind)) width = std::max(width, depth_width(child) + kDeviceWidth + 2 * kPadding);
    if (kind == NodeKind::Numa || kind == NodeKind::Package) width = std::max(width, widest(child) + 2 * kPadding);
  }
  return width;
}

void HostPicture::draw_columns(const std::vector<int>& all) {
  const std::size_t in_left = (all.size() + 1) / 2;
  const double width = std::max(kLeastWidth, widest(machine_) + 2 * kPadding);
  bool direct = false;
  bool fabric = false;
  for (const Link* link : links_) {
    const bool both = node(link->a).kind == NodeKind::Gpu && node(link->b).kind == NodeKind::Gpu;
    direct = direct || both;
    fabric = fabric || node(link->a).kind == NodeKind::NvSwitch || node(link->b).kind == NodeKind::NvSwitch;
  }
  double middle = all.size() > 1 ? 110 : 0;
  if (fabric) middle = 230;
  if (direct) middle = std::max(middle, 260.0);
  left_ = {kMargin, kMargin + width, false};
  right_ = {left_.right + middle, left_.right + middle + width, true};
  picture_.width = (all.size() > 1 ? right_.right : left_.right + middle) + kMargin;
  double y[2] = {kHeaderHeight + kMargin, kHeaderHeight + kMargin};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Column& column = i < in_left ? left_ : right_;
    double& at = y[i < in_left ? 0 : 1];
    at += (all[i] < 0 ? draw_stray(column, at) : draw_unit(all[i], column, at)) + kUnitGap;
  }
  draw_header(machine_, 0, {kMargin, 0, picture_.width - 2 * kMargin});
}

double HostPicture::draw_unit(int unit, const Column& column, double y) {
  const bool package = node(unit).kind == NodeKind::Package;
  const int box = add_box(unit, 0, package ? "package" : "numa", column.left, y, column.right - column.left, 0);
  const Area area{column.left + kPadding, y, column.right - column.left - 2 * kPadding};
  const double height = draw_contents(unit, box, area, column.mirrored);
  picture_.boxes[static_cast<std::size_t>(box)].height = height;
  return height;
}

// Devices and cores that hang on the machine itself.
double HostPicture::draw_stray(const Column& column, double y) {
  const int box = add_box(-1, 0, "numa", column.left, y, column.right - column.left, 0);
  const Area area{column.left + kPadding, y, column.right - column.left - 2 * kPadding};
  write(box, area.x, y + 16, 11, true, "NUMA node not known", area.width);
  Area below = area;
  below.y += kNumaHeaderHeight;
  below.y += draw_core_groups(machine_, box, below);
  std::vector<int> tops;
  for (int child : children(machine_))
    if (is_io(node(child).kind)) tops.push_back(child);
  below.y += draw_devices(tops, -1, box, 0, below.y, below, column.mirrored);
  below.y += draw_storage(machine_, box, below.y, below, column.mirrored);
  const double height = below.y + kPadding - kRowGap - y;
  picture_.boxes[static_cast<std::size_t>(box)].height = height;
  return height;
}

// Header, core groups, NUMA nodes and I/O below; gives the height.
double HostPicture::draw_contents(int id, int box, const Area& area, bool mirrored) {
  Area at = area;
  at.y += draw_header(id, box, at);
  at.y += draw_core_groups(id, box, at);
  std::vector<int> tops;
  for (int child : children(id)) {
    if (is_io(node(child).kind)) tops.push_back(child);
    if (node(child).kind != NodeKind::Numa && node(child).kind != NodeKind::Package) continue;
    const int inner = add_box(child, box, "numa", at.x, at.y, at.width, 0);
    const double height = draw_contents(child, inner, {at.x + kPadding, at.y, at.width - 2 * kPadding}, mirrored);
    picture_.boxes[static_cast<std::size_t>(inner)].height = height;
    at.y += height + kRowGap;
  }
  at.y += draw_devices(tops, -1, box, 0, at.y, at, mirrored);
  at.y += draw_storage(id, box, at.y, at, mirrored);
  return at.y + kPadding - kRowGap - area.y;
}

double HostPicture::draw_header(int id, int box, const Area& area) {
  const Node& of = node(id);
  std::string facts;
  const auto add = [&](const std::string& fact) {
    if (!fact.empty()) facts += (facts.empty() ? "" : "  \xc2\xb7  ") + fact;
  };
  if (of.memory_bytes) add(memory_words(*of.memory_bytes));
  if (of.cores) add(base::plural(static_cast<std::uint64_t>(*of.cores), "core"));
  if (!of.cpus.empty()) add("cpus " + of.cpus);
  const double room = area.width - kMarkRoom;
  if (of.kind == NodeKind::Numa) {
    write(box, area.x, area.y + 16, 11, true, of.name, 64);
    write(box, area.x + 70, area.y + 16, 11, false, facts, room - 70);
    return kNumaHeaderHeight;
  }
  write(box, area.x, area.y + 17, 13, true, of.name + (of.model.empty() ? "" : "  " + of.model), room);
  write(box, area.x, area.y + 32, 11, false, facts, room);
  return kHeaderHeight + 4;
}

double HostPicture::draw_core_groups(int id, int box, const Area& area) {
  std::vector<int> groups;
  for (int child : children(id))
    if (node(child).kind == NodeKind::CoreGroup) groups.push_back(child);
  if (groups.empty()) return 0;
  const std::size_t shown = std::min(groups.size(), kMaxCoreGroups);
  const auto in_row = static_cast<std::size_t>(std::max(1.0, (area.width + kRowGap) / (kChipWidth + kRowGap)));
  for (std::size_t i = 0; i < shown; ++i) {
    const Node& group = node(groups[i]);
    const double x = area.x + static_cast<double>(i % in_row) * (kChipWidth + kRowGap);
    const double y = area.y + static_cast<double>(i / in_row) * (kChipHeight + kRowGap);
    const int chip = add_box(groups[i], box, "cores", x, y, kChipWidth, kChipHeight);
    const bool last = i + 1 == shown && shown < groups.size();
    const std::string words =
        last ? fmt::format("and {} more", groups.size() - shown + 1)
             : group.name + (group.cores
                                 ? fmt::format("  {}", base::plural(static_cast<std::uint64_t>(*group.cores), "core"))
                                 : "");
    write(chip, x + 6, y + 14, 10, false, words, kChipWidth - 12);
  }
  return static_cast<double>((shown + in_row - 1) / in_row) * (kChipHeight + kRowGap);
}

int HostPicture::add_box(int id, int inside, std::string_view look, double x, double y, double width, double height) {
  PictureBox box;
  box.x = x;
  box.y = y;
  box.width = width;
  box.height = height;
  box.node = id;
  box.inside = inside;
  box.look = look;
  if (id >= 0) {
    box.title = describe_node(node(id), locality_);
    if (const auto marks = marks_.find(id); marks != marks_.end()) box.marks = marks->second;
    box_of_[id] = static_cast<int>(picture_.boxes.size());
    picture_.places[id] = {x + width / 2, y + height / 2};
  }
  picture_.boxes.push_back(std::move(box));
  return static_cast<int>(picture_.boxes.size()) - 1;
}

void HostPicture::write(int box, double x, double y, double size, bool strong, std::string_view text, double room) {
  if (text.empty() || room < 4 * size) return;
  // Bold letters are wider.
  const double scale = strong ? 1.1 : 1;
  picture_.boxes[static_cast<std::size_t>(box)].texts.push_back(
      {x, y, size, strong, false, fitted(text, room, size * scale)});
}

Picture draw_host(Locality& locality, int machine, const PictureMarks& marks) {
  return HostPicture(locality, machine, marks).draw();
}

}  // namespace weft::topology
