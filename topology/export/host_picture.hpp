// HostPicture: lays one host out. Units (packages, or NUMA nodes that have none) become boxes of equal width in two
// columns; what is in them is placed from the outside to the middle and mirrored in the right column.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topology/export/picture.hpp"
#include "topology/storage.hpp"

namespace weft::topology {

class HostPicture {
 public:
  HostPicture(Locality& locality, int machine, const PictureMarks& marks);
  Picture draw();

 private:
  // Where a unit is placed: its column's edges, and whether devices are at its left.
  struct Column {
    double left = 0;
    double right = 0;
    bool mirrored = false;
  };
  struct Area {
    double x = 0;
    double y = 0;
    double width = 0;
  };

  const std::vector<int>& children(int node) const { return children_[static_cast<std::size_t>(node)]; }
  const Node& node(int id) const { return locality_.node(id); }
  std::vector<int> units() const;
  bool has_devices_without_unit() const;
  double depth_width(int node) const;
  double widest(int node) const;
  void draw_columns(const std::vector<int>& units);
  double draw_unit(int unit, const Column& column, double y);
  double draw_stray(const Column& column, double y);
  double draw_contents(int node, int box, const Area& area, bool mirrored);
  double draw_header(int node, int box, const Area& area);
  double draw_core_groups(int node, int box, const Area& area);
  double draw_tree(int node, int above, int box, double x, double y, const Area& area, bool mirrored);
  double draw_bar(int node, int box, double x, double y, const Area& area, bool mirrored);
  void draw_device(int node, int box, double y, const Area& area, bool mirrored);
  double draw_devices(const std::vector<int>& tops, int bar, int box, double x, double y, const Area& area,
                      bool mirrored);
  void draw_rest(const std::vector<int>& nics, int box, double y, const Area& area, bool mirrored);
  double draw_storage(int below, int box, double y, const Area& area, bool mirrored);
  void draw_many(const std::vector<int>& devices, std::string_view look, int box, double y, const Area& area,
                 bool mirrored, const std::string& title, const std::string& names);
  void draw_link(int above, int below, double from, double to, double y, const Area& area, bool mirrored);
  int add_box(int node, int inside, std::string_view look, double x, double y, double width, double height);
  void write(int box, double x, double y, double size, bool strong, std::string_view text, double room);
  void draw_middle();
  void draw_sockets();
  void draw_device_links();
  std::string middle_curve(const PicturePlace& a, const PicturePlace& b) const;

  Locality& locality_;
  const int machine_;
  const PictureMarks& marks_;
  StorageParts storage_;
  std::vector<std::vector<int>> children_;  // without what is storage's alone
  std::vector<const Link*> links_;          // NVLink, XGMI, C2C and between sockets, of this host
  Picture picture_;
  std::map<int, int> box_of_;  // node -> its box
  Column left_;
  Column right_;
};

}  // namespace weft::topology
