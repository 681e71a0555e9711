// Picture: a host as boxes and lines with places, in pixels, before it becomes SVG.
//
//   +- package0 ----------------------------+            +- package1 ---+
//   | +- numa0 ---------------------------+ |            |              |
//   | | cores0 cores1                     | |            |              |
//   | | bridge | switch |---- gpu0        | |-- NVSwitch |  mirrored    |
//   | |        |        |---- mlx5_0      | |            |              |
//   | +-----------------------------------+ |            |              |
//   +---------------------------------------+            +--------------+
//
// Packages (or NUMA nodes, where a source knows no packages) stand in two columns, their devices towards the middle,
// where links between GPUs run. A bridge or switch is a bar as tall as what is below it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topology/locality.hpp"

namespace weft::topology {

// A finding beside its part.
struct PictureMark {
  int number = 0;             // as in the list
  std::string_view severity;  // "error"
  bool target = true;         // what "#part" and the number lead to: one of a page
};
using PictureMarks = std::map<int, std::vector<PictureMark>>;  // by node

struct PictureText {
  double x = 0;  // of its left edge, or of its right edge if it ends there
  double y = 0;  // of its baseline
  double size = 11;
  bool strong = false;
  bool ends = false;  // x is its end, not its start
  std::string text;   // fits
};

struct PictureBox {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  int node = -1;          // -1: several, or none
  int inside = -1;        // the box around it, an index; -1: none
  std::string_view look;  // "gpu", "package": what style sheets know
  std::string title;      // all that is known, shown when pointed at
  std::vector<PictureText> texts;
  std::vector<PictureMark> marks;
};

struct PictureLine {
  std::string path;  // of SVG: "M1 2H3"
  int band = 0;      // of bandwidth
  bool assumed = false;
  std::string title;
  PictureText label;  // empty: none
};

struct PicturePlace {
  double x = 0;
  double y = 0;
};

struct Picture {
  double width = 0;
  double height = 0;
  std::vector<PictureBox> boxes;  // outer ones first
  std::vector<PictureLine> lines;
  std::map<int, PicturePlace> places;  // by node: where rings and trees touch it
};

// One host. Not more than so many like NICs of one bridge are drawn, the rest is one box.
inline constexpr std::size_t kMaxLikeNics = 6;
inline constexpr std::size_t kMaxCoreGroups = 24;
Picture draw_host(Locality& locality, int machine, const PictureMarks& marks);

}  // namespace weft::topology
